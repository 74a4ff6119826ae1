/* SPDX-License-Identifier: MIT */
/* Fences in an answer's text: where a block of code begins and ends, and which of them are a docstring's. */
#pragma once
#include "base/base.h"

#define FH_EXTRACT_FENCE_MIN 3

/* A fence at the start of a line. */
struct fh_fence {
	char mark;
	size_t indent, length;
	struct fh_str tag; /* the first word behind it, without {. of attribute lists */
	bool closes;       /* nothing follows it */
};
bool fh_fence_of(struct fh_str line, struct fh_fence *ret);

/* In a block of Python: the quotes of the docstring that its lines have opened, and where the answer closes it. */
struct fh_docstring {
	char mark;       /* '\0': none is open */
	const char *end; /* NULL: the lines up to there are no pair of fences, or it is never closed */
};
/* Takes the next line of a block; `rest` is the answer behind it. */
void fh_docstring_take(struct fh_docstring *d, struct fh_str line, struct fh_str rest);
