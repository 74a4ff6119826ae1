/* SPDX-License-Identifier: MIT */
/*
 * A file of lines that grows by whole lines, plain or gzip, and from which interrupted work goes on.
 *
 * A line is appended by one write; what kill -9 or a full disk leaves of an incomplete line is found when the file is
 * read, and cut off. In a gzip file (its name ends in .gz) each appended line is a member by itself (RFC 1952, 2.2), so
 * that the same holds and `zcat` reads the file at any time; replacing the content makes one member of all.
 *
 * Only one process at a time has the file open (flock).
 */
#pragma once
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct fh_line_file {
	int fd;
	char *path;
	bool gzip;
	off_t size; /* size of the complete lines; bytes beyond belong to a line that was not fully written */
};

/* Opens or creates a regular file. FH_E_UNAVAILABLE: another process has it open. *ret is untouched on failure. */
int fh_line_file_open(const char *path, struct fh_line_file *ret, struct fh_error *err);
void fh_line_file_close(struct fh_line_file *f);

/* Reads all lines into `text`. A plain file may have an incomplete line at its end: the caller looks whether it is one
 * of its own and then calls fh_line_file_cut. FH_E_CONFIG: damaged compressed data. */
int fh_line_file_read(struct fh_line_file *f, struct fh_buf *text, struct fh_error *err);
/* Removes the incomplete line behind the last complete one. */
int fh_line_file_cut(struct fh_line_file *f, struct fh_error *err);
/* Appends a line, which `line` has without its newline: all of it or nothing. Not thread-safe. */
int fh_line_file_append(struct fh_line_file *f, struct fh_str line, struct fh_error *err);
/* Waits until the lines are on the disk. May run beside fh_line_file_append. */
int fh_line_file_sync(struct fh_line_file *f, struct fh_error *err);
/* Replaces the content as a whole: a reader, or a crash, sees the old file or the new one. Nothing can be appended
 * afterwards. */
int fh_line_file_replace(struct fh_line_file *f, struct fh_str text, struct fh_error *err);

/* Reads the complete lines of a file that another process may be writing. */
int fh_line_file_look(const char *path, struct fh_buf *text, struct fh_error *err);
/* Appends bytes to a file of `size` bytes that was opened with O_APPEND: all of them or nothing. Returns 0 or an
 * errno. */
int fh_append_whole(int fd, off_t size, struct fh_str bytes);
