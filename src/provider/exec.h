/* SPDX-License-Identifier: MIT */
/* The pure halves of the exec type, for its tests. */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

/* Splits a command line as a shell would, without any expansion: blanks separate words; '…' is taken as it is; in
 * "…" and outside quotes a backslash takes the next character as it is. *ret: NULL-terminated, free each word and
 * the list (fh_exec_free_words). FH_E_CONFIG for an open quote, a trailing backslash and an empty command. */
int fh_exec_split(const char *command, char ***ret, struct fh_error *err);
void fh_exec_free_words(char **words);

/* Text of a terminal without its escape sequences, and without blanks at both ends. */
void fh_exec_plain(struct fh_buf *out, struct fh_str s);
