/* SPDX-License-Identifier: MIT */
/* Finds comments and literals in a program's text without parsing it, and answers questions that only need to skip
 * them. */
#pragma once
#include "code/outline.h"

/* The end of the comment or literal that begins at s[i], or i when none begins there. A literal that is never closed
 * ends with its line, or with the text if it may span lines. */
size_t fh_literal_end(struct fh_str s, size_t i, enum fh_syntax syntax);

/* Whether a text looks complete: its brackets and literals are closed, the heads of Python's compound statements end
 * with a colon, and if it defines the function `name`, the body does something: it is more than a docstring, `...`,
 * `pass` or a comment. */
bool fh_looks_complete(struct fh_str text, struct fh_str name, enum fh_syntax syntax);
