/* SPDX-License-Identifier: MIT */
/* Fences of code blocks in an answer: which ones begin and end a block, and which belong to a docstring within it. */
#pragma once
#include "base/base.h"

#define FH_EXTRACT_FENCE_MIN 3

/* A fence at the start of a line. */
struct fh_fence {
	char mark;
	size_t indent, length;
	struct fh_str tag; /* the first word behind the fence; of attributes such as {.python}, the word without {. */
	bool closes;       /* nothing but blanks follows the fence, so it may close a block */
};
bool fh_fence_of(struct fh_str line, struct fh_fence *ret);

/* A docstring that the lines of a Python block have opened. */
struct fh_docstring {
	char mark;       /* quote character of the open docstring; '\0': none is open */
	const char *end; /* end of the docstring; NULL: it is never closed, or fences within are not in pairs */
};
/* Updates the state with the next line of a block; `rest` is the text that follows it. */
void fh_docstring_take(struct fh_docstring *d, struct fh_str line, struct fh_str rest);

/* Whether the text has a fence outside of the language's literals and comments, where no program has one: then it is an
 * answer that holds a program. language: a name of languages/NAME.json. */
bool fh_has_free_fence(struct fh_str text, const char *language);
