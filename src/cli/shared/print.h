/* SPDX-License-Identifier: MIT */
/*
 * What a command writes to its standard output and, for a program that it runs, to its standard error. All writes are
 * checked here, so that no byte is lost silently: after a full disk, /dev/full or a closed descriptor the command
 * ends with a message on stderr and a status other than 0. A command's main() returns fh_print_end().
 *
 * The functions return nothing: after a failed write, further writes to that stream are dropped, and the command
 * continues if its results go elsewhere too. Text is written at once, without a buffer. A reader that closed the
 * pipe (`| head`) is a failed write as well, not SIGPIPE: other files of the command are still written. Not
 * thread-safe.
 */
#pragma once
#include "base/buf.h"

void fh_print(const struct fh_buf *text);
/* Prints text and a newline. */
void fh_print_line(const char *text);
void fh_printf(const char *format, ...) FH_PRINTF(1, 2);
/* fd: STDOUT_FILENO or STDERR_FILENO. */
void fh_print_bytes(int fd, struct fh_str s);

/* Whether standard output has lost anything: a command without other output may stop. */
bool fh_print_lost(void);

/* Says on stderr which stream lost output and why. Returns `status`, but `lost` if that is FH_EXIT_OK and output was
 * lost. */
int fh_print_end(int status, int lost);
