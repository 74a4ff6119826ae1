/* SPDX-License-Identifier: MIT */
/*
 * The access log of `fumehood serve`: lines that connections append, each from its own thread. A server goes on when
 * its log cannot be written (a full disk): that is said on stderr once, each later line is tried again, and the first
 * that can be written is followed on stderr by how many were lost before it. Lines are whole: what a failed write may
 * have left of one is ended by a newline of its own.
 */
#pragma once
#include "base/error.h"

/* Opens the file for appending, or makes it for the user alone; "-" is stderr; NULL: there is no log. */
int fh_serve_log_open(const char *path, struct fh_error *err);
bool fh_serve_log_is_open(void);
/* `line` ends with a newline. Thread-safe. */
void fh_serve_log_write(const char *line);
