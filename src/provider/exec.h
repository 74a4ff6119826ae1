/* SPDX-License-Identifier: MIT */
/* Running the user's programs, for the provider types that do. */
#pragma once
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/process/proc.h"
#include "provider/type.h"

/* Splits a command line as a shell would, without expansions: blanks separate words; '…' is literal; in "…" and outside
 * of quotes a backslash makes the next character literal. *ret is NULL-terminated; free it with fh_exec_free_words.
 * FH_E_CONFIG for an open quote, a trailing backslash or an empty command. */
int fh_exec_split(const char *command, char ***ret, struct fh_error *err);
void fh_exec_free_words(char **words);

/* As fh_proc_run, but reacts at once when the call is cancelled, and a program may go on after it closed its streams
 * only until the time is over. */
int fh_exec_run(const struct fh_proc_options *o, FH_NULLABLE const volatile int *cancel, int64_t timeout_ms,
                struct fh_buf *out, struct fh_buf *errout, int *ret_status, struct fh_error *err);
/* Runs a command (NULL-terminated) with the prompt, the options and the context behind its words. What it printed is
 * the output, and, as it is, `raw`. */
int fh_exec_call_words(struct fh_provider *p, const char *const *words, const struct fh_provider_request *request,
                       struct fh_provider_response *ret, struct fh_error *err);

/* Appends what a program printed, without white space at both ends and without a terminal's escape sequences. */
void fh_exec_plain(struct fh_buf *out, struct fh_str s);
