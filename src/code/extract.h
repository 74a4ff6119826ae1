/* SPDX-License-Identifier: MIT */
/*
 * Extracts the program from a model's answer.
 *
 * A pure function of text: it runs no interpreter; time and memory are linear in the answer's size. The steps:
 *
 * 1. The text up to the last "</think>", a reasoning model's thoughts, is dropped.
 * 2. Fenced blocks: ``` or ~~~, indented or not, with the language's tag, another tag or none, closed or not. A second
 *    opening fence closes a block that was left open; a block tagged markdown is an answer of its own, whatever the
 *    lengths of its fences. The fence's own indentation is removed from the block's lines. In
 *    Python a pair of fences within a docstring belongs to the docstring.
 * 3. Blocks that can be in the language are considered: those with its tags and aliases before untagged ones; blocks
 *    with another language's tag only when they define the wanted function. The first that defines `entry_point` is the
 *    program; if it is incomplete (unclosed brackets or literals, in Python a head without its colon or a body that
 *    does nothing), the last complete one is. Without an entry point it is the longest block (in C
 *    and C++: one that defines main).
 * 4. Imports, functions, classes and constants of other blocks are put before the program if it uses their names and
 *    does not define them.
 * 5. If there is no such block, the program is the text before a stray closing fence, or the part of the answer that
 *    looks like code.
 * 6. Prompts of an interactive session (>>> and ...; "$ " for bash) are removed, and the output between them too.
 */
#pragma once
#include "base/base.h"

#define FH_EXTRACT_MAX ((size_t)4 << 20) /* bytes of an answer that are read */

struct fh_extract_options {
	FH_NULLABLE const char *language;    /* a language of languages/NAME.json; NULL or unknown: any block counts */
	FH_NULLABLE const char *entry_point; /* name of the wanted function (or class, or "Class.method") */
};

struct fh_extraction {
	char *code; /* the program: ends with a newline, NUL-terminated. NULL: no program was found */
	size_t size;
	char *reason; /* why no program was found, "no code: …"; NULL when one was */
	bool defines; /* the program's text defines the entry point; true when none is wanted */
	bool fenced;  /* the program came from a fenced block */
};

void fh_extract(struct fh_str answer, const struct fh_extract_options *options, struct fh_extraction *ret);
void fh_extraction_release(struct fh_extraction *e);
#define fh_auto_extraction FH_CLEANUP(fh_extraction_release)

/* The language that the first word of a fence's tag means ("py" -> "python", "C++" -> "cpp"); "" for languages that are
 * not supported and for text that is no program (json, diff …); NULL for an unknown word. */
FH_NULLABLE const char *fh_extract_language_of_tag(struct fh_str tag);
