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

#define FH_EXTRACT_MAX ((size_t)4 << 20) /* of an answer */

struct fh_extract_options {
	FH_NULLABLE const char *language; /* a name of languages/NAME.json; NULL or another: any language's tag will do */
	FH_NULLABLE const char *entry_point; /* the function (or class, or "Class.method") that is wanted */
};

struct fh_extraction {
	char *code; /* the program, ends with a newline; a NUL follows. NULL: there is none */
	size_t size;
	char *reason; /* without a program: why, "no code: …"; NULL with one */
	bool defines; /* whether the program defines the entry point, as far as its text shows; true when none is wanted */
	bool fenced;  /* whether it came from a fenced block */
};

void fh_extract(struct fh_str answer, const struct fh_extract_options *options, struct fh_extraction *ret);
void fh_extraction_release(struct fh_extraction *e);
#define fh_auto_extraction FH_CLEANUP(fh_extraction_release)

/* The language that a fence's tag means ("py" -> "python", "C++" -> "cpp"), by its first word; "" for tags of languages
 * that we do not run and of things that are no program (json, diff …); NULL for a tag that says nothing of either. */
FH_NULLABLE const char *fh_extract_language_of_tag(struct fh_str tag);
