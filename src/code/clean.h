/* SPDX-License-Identifier: MIT */
/*
 * Repairs what copying does to a program's text and no compiler accepts: removes a leading byte order mark, and outside
 * of literals replaces other spaces than U+0020 where only a space can be meant. Web pages and chat windows put
 * no-break spaces into indentation.
 */
#pragma once
#include "base/buf.h"

/* Appends the cleaned text; language is a name of languages/NAME.json, or NULL. */
void fh_clean_program(struct fh_buf *out, struct fh_str text, FH_NULLABLE const char *language);
