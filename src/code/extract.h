/* SPDX-License-Identifier: MIT */
/*
 * The program in a model's answer.
 *
 * A pure function of text: nothing is run or parsed by an interpreter, time and memory are linear in the answer's size.
 * In this order:
 *
 * 1. What a reasoning model thought (up to the last "</think>") is left out.
 * 2. Fenced blocks: ``` or ~~~, indented or not, with the language's tag, another tag or none, closed or not. A second
 *    opening fence closes a block that was left open. A fence's own indentation is taken off its lines. In python a
 * pair of fences within a docstring belongs to it.
 * 3. Of the blocks that may hold the language (its tags and its aliases before untagged ones; a block with another
 *    language's tag only when it defines the wanted function), the first that defines `entry_point` is the
 *    program; where that is not whole (brackets or literals that are not closed, in python a body that does nothing)
 *    the last one that is. Without an entry point the longest (in c and cpp: one that defines main).
 * 4. Imports, functions, classes and constants of other blocks are put in front when the program uses their
 *    names and does not define them.
 * 5. Without such a block: the text before a stray closing fence, or the part of the answer that looks like code.
 * 6. Prompts of an interactive session (>>> and ...; "$ " for bash) are taken off, with the output between them.
 */
#pragma once
#include "base/base.h"

#define FH_EXTRACT_MAX ((size_t)4 << 20) /* bytes of an answer that are read */

struct fh_extract_options {
	FH_NULLABLE const char *language;    /* of languages/NAME.json; NULL or unknown: blocks of any language count */
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
