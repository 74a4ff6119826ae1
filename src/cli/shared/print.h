/* SPDX-License-Identifier: MIT */
/*
 * What a command writes to its standard output and, for a program that runs, to its standard error. Each write is
 * checked here and nowhere else, so that no byte is lost in silence: a full disk, /dev/full or a closed descriptor
 * behind the stream ends the command with a line on stderr and a status that is not 0. A command's main() returns
 * fh_print_end().
 *
 * The functions return nothing: the first write that fails is remembered, later ones to that stream are left out, and
 * the command goes on with the work whose results lie elsewhere. Text is written at once, nothing is held back.
 *
 * A reader that has gone (`| head`) is a failed write like every other, and no SIGPIPE: files that the command was to
 * write as well are still written. One thread at a time.
 */
#pragma once
#include "base/buf.h"

void fh_print(const struct fh_buf *text);
/* The text and a newline. */
void fh_print_line(const char *text);
void fh_printf(const char *format, ...) FH_PRINTF(1, 2);
/* fd: STDOUT_FILENO or STDERR_FILENO. */
void fh_print_bytes(int fd, struct fh_str s);

/* Whether something of standard output is lost already: a command that has no other output may stop. */
bool fh_print_lost(void);

/* Says on stderr which stream lost something and why. Returns `status`, or `lost` in place of FH_EXIT_OK when something
 * was lost. */
int fh_print_end(int status, int lost);
