/* SPDX-License-Identifier: MIT */
/* Functions of the exec type that need no process, for its tests. */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

/* Splits a command line as a shell would, without expansions: blanks separate words; '…' is literal; in "…" and outside
 * of quotes a backslash makes the next character literal. *ret is NULL-terminated; free it with fh_exec_free_words.
 * FH_E_CONFIG for an open quote, a trailing backslash or an empty command. */
int fh_exec_split(const char *command, char ***ret, struct fh_error *err);
void fh_exec_free_words(char **words);

/* Appends what a program printed, without white space at both ends and without a terminal's escape sequences. */
void fh_exec_plain(struct fh_buf *out, struct fh_str s);
