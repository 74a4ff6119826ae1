/* SPDX-License-Identifier: MIT */
/* Descriptors and whole files. All descriptors opened here are close-on-exec. */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#include <signal.h>

/* Writes all n bytes, continuing after short writes and EINTR. On an error: -FH_E_SYSTEM, with errno set. */
int fh_write_all(int fd, const void *p, size_t n) FH_MUST_CHECK;
/* Between the two calls, a write of this thread to a pipe without readers fails with EPIPE and raises no SIGPIPE: the
 * signal is blocked, and one caused by these writes is discarded. The process's own handling of SIGPIPE is not
 * changed. */
struct fh_sigpipe_guard {
	sigset_t before;
	bool was_pending;
};
void fh_sigpipe_block(struct fh_sigpipe_guard *g);
void fh_sigpipe_restore(const struct fh_sigpipe_guard *g); /* keeps errno */

/* Waits until there is something to read from fd, and reads it; 0 at its end, -1 when reading fails, or once the
 * descriptor `stop` can be read: a thread that waits so can be told to end. */
ssize_t fh_read_unless(int stop, int fd, void *to, size_t n) FH_MUST_CHECK;

/* Reads to end of file; more than out->max bytes are refused with -FH_E_LIMIT. */
int fh_read_all(int fd, struct fh_buf *out) FH_MUST_CHECK;

/* Reads a whole regular file of at most out->max bytes. Directories, FIFOs and devices are refused with an error. */
int fh_file_read(const char *path, struct fh_buf *out, struct fh_error *err);
/* From now on `note` is called, in any thread, with the path of each file that fh_file_read is to read, whether it is
 * there or not; NULL: no more. Call it before other threads are started. */
void fh_file_observe(FH_NULLABLE void (*note)(void *context, const char *path), void *context);
/* Opens a file or a FIFO for reading. As long as nothing has been written to a FIFO, it waits; where that takes longer
 * than a second, what was given to fh_file_on_wait is called with the path. Returns -1 with errno set. */
int fh_file_open_waiting(const char *path);
/* Call it before other threads are started. NULL: nothing is called. */
void fh_file_on_wait(FH_NULLABLE void (*waits)(const char *path));
/* Writes a temporary file and renames it over path, so that a reader, or a crash, sees either the old file or the new
 * one. */
int fh_file_write_atomic(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err);

/* Whether fh_file_write_atomic could write there now; a file that exists is left as it is. */
int fh_file_try(const char *path, struct fh_error *err);

/* The same for a path that may have been manipulated: a symbolic link at path is itself replaced. Anything but a
 * regular file or a link is left alone, with an error. */
int fh_file_replace(const char *path, const void *p, size_t n, mode_t mode, struct fh_error *err);

int fh_set_nonblock(int fd, bool on);

/* A program in memory that can be executed and never changed: it is sealed. name is shown in /proc. Returns its
 * descriptor, or -1 with errno set. */
int fh_memory_program(const char *name, const void *image, size_t size);
