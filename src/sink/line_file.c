/* SPDX-License-Identifier: MIT */
#include "sink/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fd.h"
#include "base/path.h"

#define LINES_MAX ((size_t)16 << 30)
#define PIECE_MAX ((size_t)1 << 30) /* maximum bytes given to zlib at once, whose counters are unsigned int */
enum { WINDOW_OF_GZIP = 15 + 16, MEMORY_LEVEL = 8, ROOM = 64 << 10 };

/* ------------------------------------------------------------------------------------------------------------- gzip */

/* Appends text as one member. False: it does not fit, or there is no memory. */
static bool add_member(struct fh_buf *out, struct fh_str text)
{
	z_stream z = { 0 };
	int code = Z_OK;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	while (code == Z_OK) {
		if (z.avail_in == 0) {
			z.next_in = (unsigned char *)(uintptr_t)text.p;
			z.avail_in = (uInt)FH_MIN(text.n, PIECE_MAX);
			text = (struct fh_str){ text.p + z.avail_in, text.n - z.avail_in };
		}
		char *room = fh_buf_reserve(out, ROOM);
		if (!room)
			break;
		z.next_out = (unsigned char *)room;
		z.avail_out = ROOM;
		code = deflate(&z, text.n > 0 ? Z_NO_FLUSH : Z_FINISH);
		out->n += ROOM - z.avail_out;
	}
	deflateEnd(&z);
	return code == Z_STREAM_END;
}

/* Whether `in` is not empty and begins as a member does, as far as it goes. */
static bool begins_member(struct fh_str in)
{
	static const char magic[] = { 0x1f, (char)0x8b };
	return in.n > 0 && memcmp(in.p, magic, FH_MIN(in.n, sizeof(magic))) == 0;
}

/* Decompresses the member at the beginning of `in`, and returns how many bytes it has; 0: it is cut off; -1: damaged,
 * or `out` is full. */
static ssize_t read_member(struct fh_str in, struct fh_buf *out)
{
	z_stream z = { 0 };
	size_t used = 0;
	int code = Z_OK;
	if (inflateInit2(&z, WINDOW_OF_GZIP) != Z_OK)
		return -1;
	while (code == Z_OK) {
		size_t piece = FH_MIN(in.n - used, PIECE_MAX);
		char *room = fh_buf_reserve(out, ROOM);
		if (!room)
			break;
		z.next_in = (unsigned char *)(uintptr_t)in.p + used;
		z.avail_in = (uInt)piece;
		z.next_out = (unsigned char *)room;
		z.avail_out = ROOM;
		code = inflate(&z, Z_NO_FLUSH);
		used += piece - z.avail_in;
		out->n += ROOM - z.avail_out;
	}
	inflateEnd(&z);
	if (code == Z_STREAM_END)
		return (ssize_t)used;
	return code == Z_BUF_ERROR && used == in.n ? 0 : -1;
}

/* Decompresses all complete members, each of which ends with a line. *ret_size: where the last of them ends. */
static int read_members(const char *path, struct fh_str in, struct fh_buf *out, off_t *ret_size, struct fh_error *err)
{
	size_t at = 0;
	while (at < in.n) {
		size_t before = out->n;
		struct fh_str rest = { in.p + at, in.n - at };
		ssize_t n = begins_member(rest) ? read_member(rest, out) : -1;
		if (n < 0 || (n > 0 && out->n > 0 && out->p[out->n - 1] != '\n')) {
			fh_error_set(err, FH_E_CONFIG, "%s: this is not a compressed results file, or it is damaged", path);
			fh_error_hint(err, "gzip -t %s tests it; name another file with -o, or move this one away", path);
			return -FH_E_CONFIG;
		}
		if (n == 0) {
			fh_buf_truncate(out, before);
			break;
		}
		at += (size_t)n;
	}
	*ret_size = (off_t)at;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool is_gzip(const char *path)
{
	return fh_streq(fh_path_ext(path), ".gz");
}

int fh_line_file_open(const char *path, struct fh_line_file *ret, struct fh_error *err)
{
	fh_auto_close int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	struct stat st;
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write results to %s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		fh_error_set(err, FH_E_ARGUMENT, "%s is not a regular file", path);
		fh_error_hint(err, "results are resumed from their file: name one with -o");
		return -FH_E_ARGUMENT;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		fh_error_set(err, FH_E_UNAVAILABLE, "another fumehood process is writing to %s", path);
		fh_error_hint(err, "wait until it has ended, or name another file with -o");
		return -FH_E_UNAVAILABLE;
	}
	*ret = (struct fh_line_file){ .fd = FH_TAKE_FD(fd), .path = fh_xstrdup(path), .gzip = is_gzip(path) };
	return 0;
}

void fh_line_file_close(struct fh_line_file *f)
{
	if (f->path)
		fh_closep(&f->fd);
	free(f->path);
	f->path = NULL;
}

static int read_lines(int fd, const char *path, bool gzip, struct fh_buf *text, off_t *ret_size, struct fh_error *err)
{
	fh_auto_buf struct fh_buf raw = FH_BUF_INIT(LINES_MAX);
	if (fh_read_all(fd, gzip ? &raw : text) < 0)
		return fh_error_sys(err, errno, "cannot read %s", path);
	if (gzip)
		return read_members(path, fh_buf_str(&raw), text, ret_size, err);
	const char *end = text->n ? memrchr(text->p, '\n', text->n) : NULL;
	*ret_size = end ? end + 1 - text->p : 0;
	return 0;
}

int fh_line_file_read(struct fh_line_file *f, struct fh_buf *text, struct fh_error *err)
{
	return read_lines(f->fd, f->path, f->gzip, text, &f->size, err);
}

int fh_line_file_look(const char *path, struct fh_buf *text, struct fh_error *err)
{
	off_t size;
	fh_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot read %s", path);
	int r = read_lines(fd, path, is_gzip(path), text, &size, err);
	if (r == 0 && !is_gzip(path))
		fh_buf_truncate(text, (size_t)size);
	return r;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

int fh_line_file_cut(struct fh_line_file *f, struct fh_error *err)
{
	struct stat st;
	if (fstat(f->fd, &st) < 0 || (st.st_size > f->size && ftruncate(f->fd, f->size) < 0))
		return fh_error_sys(err, errno, "cannot drop the line of %s that was cut off", f->path);
	return 0;
}

int fh_append_whole(int fd, off_t size, struct fh_str bytes)
{
	if (fh_write_all(fd, bytes.p, bytes.n) == 0)
		return 0;
	int sys = errno;
	/* part of a line in the middle of the file would make the whole file unreadable */
	(void)!ftruncate(fd, size);
	return sys;
}

int fh_line_file_append(struct fh_line_file *f, struct fh_str line, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), packed = FH_BUF_INIT(0);
	fh_buf_add_str(&text, line);
	fh_buf_addc(&text, '\n');
	if (f->gzip && !add_member(&packed, fh_buf_str(&text)))
		return fh_error_sys(err, ENOMEM, "cannot write results to %s", f->path);
	struct fh_str bytes = fh_buf_str(f->gzip ? &packed : &text);
	int sys = fh_append_whole(f->fd, f->size, bytes);
	if (sys)
		return fh_error_sys(err, sys, "cannot write results to %s", f->path);
	f->size += (off_t)bytes.n;
	return 0;
}

int fh_line_file_sync(struct fh_line_file *f, struct fh_error *err)
{
	/* EINVAL: the file system does not support syncing */
	if (fdatasync(f->fd) < 0 && errno != EINVAL)
		return fh_error_sys(err, errno, "cannot write results to %s", f->path);
	return 0;
}

int fh_line_file_replace(struct fh_line_file *f, struct fh_str text, struct fh_error *err)
{
	fh_auto_buf struct fh_buf packed = FH_BUF_INIT(LINES_MAX);
	struct stat st = { .st_mode = 0644, .st_nlink = 1 }, named;
	if (f->gzip && !add_member(&packed, text))
		return fh_error_sys(err, ENOMEM, "cannot write results to %s", f->path);
	struct fh_str bytes = f->gzip ? fh_buf_str(&packed) : text;
	(void)fstat(f->fd, &st);
	/* A file without a name, which cannot be replaced: a memfd of the caller's, opened through /proc. */
	if (st.st_nlink == 0 && stat(f->path, &named) == 0 && named.st_ino == st.st_ino && named.st_dev == st.st_dev) {
		if (ftruncate(f->fd, 0) < 0 || fh_write_all(f->fd, bytes.p, bytes.n) < 0)
			return fh_error_sys(err, errno, "cannot write results to %s", f->path);
		return 0;
	}
	return fh_file_write_atomic(f->path, bytes.p, bytes.n, st.st_mode & 0777, err);
}
