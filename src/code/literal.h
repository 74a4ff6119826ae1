/* SPDX-License-Identifier: MIT */
/* Comments and literals of a program's text, by look: where one ends, and what can be told of a text by skipping them.
 */
#pragma once
#include "code/outline.h"

/* The end of the comment or literal that begins at s[i], or i when none begins there. A literal that is never closed
 * ends with its line, or where it may have several with the text. */
size_t fh_literal_end(struct fh_str s, size_t i, enum fh_syntax syntax);
/* By language name, as fh_syntax_of; but languages with braces that no outline can be made of are as C. */
enum fh_syntax fh_literal_syntax(FH_NULLABLE const char *language);

/* Whether a text looks whole: its brackets and literals are closed, and the function `name`, where it defines one, has
 * a body that does something: not nothing, a docstring, `...`, `pass` or a comment alone. */
bool fh_looks_complete(struct fh_str text, struct fh_str name, enum fh_syntax syntax);
