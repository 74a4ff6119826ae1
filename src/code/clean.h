/* SPDX-License-Identifier: MIT */
/*
 * What copying a program's text puts into it, and no compiler takes: a byte order mark in front, and other spaces than
 * U+0020 where only that can be meant, outside of literals. Web pages and chat windows put no-break spaces into
 * indentation.
 */
#pragma once
#include "base/buf.h"

/* Appends text without them; language as in languages/NAME.json, or NULL. */
void fh_clean_program(struct fh_buf *out, struct fh_str text, FH_NULLABLE const char *language);
