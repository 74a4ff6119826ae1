/* SPDX-License-Identifier: MIT */
/*
 * From the result of a run to the verdict on a sample.
 *
 * A sample passes only if the driver's message says so, with the secret of this run, and the process then ended with
 * exit status 0. Any exit without a message is early_exit. A limit that ended the run takes precedence over any
 * message.
 */
#pragma once
#include "base/buf.h"
#include "fumehood/sandbox.h"

enum fh_verdict {
	FH_VERDICT_PASSED,
	FH_VERDICT_FAILED,
	FH_VERDICT_RUNTIME_ERROR,
	FH_VERDICT_COMPILE_ERROR,
	FH_VERDICT_CPU_TIME_LIMIT,
	FH_VERDICT_WALL_TIME_LIMIT,
	FH_VERDICT_MEMORY_LIMIT,
	FH_VERDICT_OUTPUT_LIMIT,
	FH_VERDICT_DISK_LIMIT,
	FH_VERDICT_PROCESS_LIMIT,
	FH_VERDICT_BLOCKED,
	FH_VERDICT_EARLY_EXIT,
	FH_VERDICT_TAMPERED,
	FH_VERDICT_NO_CODE,
	FH_VERDICT_ENGINE_ERROR, /* an error of the harness, not of the sample */
	FH_VERDICT_COUNT_
};
const char *fh_verdict_name(enum fh_verdict v); /* "passed", "early_exit", … */
/* The verdict with that name; FH_VERDICT_COUNT_: there is none. */
enum fh_verdict fh_verdict_of_name(const char *name);

#define FH_SECRET_SIZE 32 /* hexadecimal digits */
#define FH_REASON_MAX 1000

/* The driver's message in stdout, from offset `at` to `end`. */
struct fh_driver_message {
	size_t at, end;
	unsigned count; /* number of occurrences of the secret; must be 1 */
	struct fh_str verdict, reason;
};
/* False if there is no well-formed message; `count` is set anyway. */
bool fh_driver_message_find(struct fh_str output, const char secret[FH_SECRET_SIZE], struct fh_driver_message *ret);

/* ---- pieces of reasons ---- */

/* The last non-empty line; with `wanted`, the first line that contains it. */
struct fh_str fh_verdict_telling_line(struct fh_str text, FH_NULLABLE const char *wanted);
/* Appends separator and line, unless the line is empty. */
void fh_verdict_add_line(struct fh_buf *out, const char *separator, struct fh_str line);
/* Appends which limit led to the result's status, and its value. */
void fh_verdict_explain_limit(const struct fh_result *r, struct fh_buf *why);
/* Converts text from a tested program to UTF-8 of at most FH_REASON_MAX bytes. free() the result. */
FH_OWN char *fh_verdict_finish(struct fh_buf *raw);

/* Decides the verdict, and the reason as UTF-8 of at most FH_REASON_MAX bytes ("" for passed). free() *ret_reason. */
enum fh_verdict fh_verdict_decide(const struct fh_result *result, const char secret[FH_SECRET_SIZE], char **ret_reason);

/* The same for a program that is judged by its output, before that is compared: passed if it ended with exit_code and
 * its stdout is complete. */
enum fh_verdict fh_verdict_of_program(const struct fh_result *result, int exit_code, char **ret_reason);
