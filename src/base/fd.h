/* SPDX-License-Identifier: MIT */
/* Descriptors and whole files. Everything opened here is close-on-exec. */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#include <signal.h>

/* Writes all n bytes, over short writes and EINTR; -FH_E_SYSTEM with errno set otherwise. */
int fh_write_all(int fd, const void *p, size_t n) FH_MUST_CHECK;
/* Between the two calls a write of this thread into a pipe that nobody reads gives EPIPE and no SIGPIPE: the signal is
 * blocked, and one that these writes caused is taken back. The process's own way with SIGPIPE stays. */
struct fh_sigpipe_guard {
	sigset_t before;
	bool was_pending;
};
void fh_sigpipe_block(struct fh_sigpipe_guard *g);
void fh_sigpipe_restore(const struct fh_sigpipe_guard *g); /* leaves errno alone */

/* Reads to end of file; refuses more than out->max with -FH_E_LIMIT. */
int fh_read_all(int fd, struct fh_buf *out) FH_MUST_CHECK;

/* A regular file, whole, at most out->max bytes; a directory, FIFO or device is refused with a message. */
int fh_file_read(const char *path, struct fh_buf *out, struct fh_error *err);
/* Writes beside and renames over: a reader or a crash sees the old file or the new one, never half. */
int fh_file_write_atomic(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err);

/* The same for a file whose content is not to be trusted with a place: a symbolic link at path is itself replaced, and
 * what is neither a regular file nor a link is left alone, with an error. */
int fh_file_replace(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err);

int fh_set_nonblock(int fd, bool on);
