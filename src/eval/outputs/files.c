/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "eval/outputs/output.h"
#include "sink/line_file.h"

#define FLUSH_AT ((size_t)256 << 10)
#define SIGN_WITHIN ((size_t)64 << 10) /* bytes at a file's start in which the mark of its format is searched */

struct file {
	const struct fh_output_kind *kind;
	const char *path; /* path of the file, borrowed */
	char *real;       /* the path with symbolic links resolved, so that a link is not replaced */
	int fd;           /* holds the file's lock; rows are appended here */
	bool regular, made, written;
	bool cut; /* the old content was truncated */
};

struct fh_output_files {
	struct file *items;
	size_t count, capacity;
};

void fh_output_flush(struct fh_output_stream *s)
{
	if (s->text.n < FLUSH_AT || s->failed)
		return;
	if (fh_write_all(s->fd, s->text.p, s->text.n) < 0)
		s->failed = errno;
	fh_buf_truncate(&s->text, 0);
}

static int print(const struct fh_output_kind *kind, const struct fh_output_data *data, int fd, int *ret_errno,
                 struct fh_error *err)
{
	struct fh_output_stream s = { .text = FH_BUF_INIT(0), .fd = fd };
	struct fh_sigpipe_guard guard;
	fh_sigpipe_block(&guard); /* a FIFO, or standard output: a reader that has gone is an error of this file alone */
	int r = kind->write(data, &s, err);
	if (!s.failed && s.text.n > 0 && fh_write_all(fd, s.text.p, s.text.n) < 0)
		s.failed = errno;
	fh_sigpipe_restore(&guard);
	fh_buf_release(&s.text);
	*ret_errno = s.failed;
	return r;
}

int fh_output_print(const struct fh_output_kind *kind, const struct fh_output_data *data, int fd, struct fh_error *err)
{
	int failed = 0;
	int r = print(kind, data, fd, &failed, err);
	return r == 0 && failed ? fh_error_sys(err, failed, "cannot write the results") : r;
}

/* ---------------------------------------------------------------------------------------------------------- opening */

static int make_folders(const char *dir, struct fh_error *err)
{
	if (fh_path_is_dir(dir) || !*dir)
		return 0;
	fh_auto_free char *parent = fh_path_dir(dir);
	if (!fh_streq(parent, dir)) {
		int r = make_folders(parent, err);
		if (r < 0)
			return r;
	}
	return mkdir(dir, 0777) == 0 || errno == EEXIST ? 0 : fh_error_sys(err, errno, "cannot make folder %s", dir);
}

/* An existing file is overwritten only if it looks like results of this kind. */
static int check_content(const struct file *f, struct fh_error *err)
{
	fh_auto_free char *start = fh_xcalloc(1, SIGN_WITHIN + 1);
	ssize_t n = pread(f->fd, start, SIGN_WITHIN, 0);
	if (n <= 0 || !f->kind->sign || memmem(start, (size_t)n, f->kind->sign, strlen(f->kind->sign)))
		return 0;
	fh_error_set(err, FH_E_CONFIG, "%s holds something other than results", f->path);
	fh_error_hint(err, "name another file with -o, or move this one away");
	return -FH_E_CONFIG;
}

static int open_regular(struct file *f, struct fh_error *err)
{
	f->fd = open(f->real, O_RDWR | O_CLOEXEC | O_APPEND | O_NOCTTY);
	if (f->fd < 0 && errno == ENOENT) {
		f->fd = open(f->real, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
		f->made = f->fd >= 0;
	}
	if (f->fd < 0)
		return fh_error_sys(err, errno, "cannot write results to %s", f->path);
	if (flock(f->fd, LOCK_EX | LOCK_NB) < 0) {
		fh_error_set(err, FH_E_UNAVAILABLE, "another eval is writing results to %s", f->path);
		fh_error_hint(err, "wait until it has ended, or name another file with -o");
		return -FH_E_UNAVAILABLE;
	}
	return check_content(f, err);
}

static int open_one(struct file *f, struct fh_error *err)
{
	struct stat st;
	fh_auto_free char *dir = fh_path_dir(f->path);
	int r = fh_output_for(f->path, &f->kind, err);
	if (r == 0)
		r = make_folders(dir, err);
	if (r < 0)
		return r;
	bool exists = stat(f->path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "cannot write %s: it is a directory", f->path);
	f->regular = !exists || S_ISREG(st.st_mode);
	f->real = exists ? realpath(f->path, NULL) : NULL;
	if (!f->real)
		f->real = fh_xstrdup(f->path);
	if (f->regular)
		return open_regular(f, err);
	/* A device or a FIFO is opened only when the results are written. */
	return access(f->path, W_OK) == 0 ? 0 : fh_error_sys(err, errno, "cannot write results to %s", f->path);
}

int fh_output_files_open(const char *const *paths, struct fh_output_files **ret, struct fh_error *err)
{
	struct fh_output_files *f = FH_NEW(struct fh_output_files);
	for (; paths && *paths; paths++) {
		struct file *one = &FH_PUSH(f->items, f->count, f->capacity);
		one->path = *paths;
		one->fd = -1;
		int r = 0;
		for (size_t i = 0; i + 1 < f->count && r == 0; i++)
			if (fh_streq(f->items[i].path, *paths))
				r = fh_error_set(err, FH_E_ARGUMENT, "%s is named twice for the results", *paths);
		r = r == 0 ? open_one(one, err) : r;
		if (r < 0) {
			fh_output_files_close(f);
			return r;
		}
	}
	*ret = f;
	return 0;
}

void fh_output_files_close(struct fh_output_files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++) {
		struct file *one = &f->items[i];
		struct stat st;
		if (one->made && !one->written && fstat(one->fd, &st) == 0 && st.st_size == 0)
			(void)unlink(one->real);
		fh_closep(&one->fd);
		free(one->real);
	}
	free(f->items);
	free(f);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static int append(struct file *f, struct fh_str text, struct fh_error *err)
{
	fh_auto_buf struct fh_buf line = FH_BUF_INIT(0);
	off_t size = lseek(f->fd, 0, SEEK_END);
	if (!f->cut && ftruncate(f->fd, size = 0) < 0)
		return fh_error_sys(err, errno, "cannot write results to %s", f->path);
	f->cut = true;
	fh_buf_add_str(&line, text);
	fh_buf_addc(&line, '\n');
	int sys = fh_append_whole(f->fd, size, fh_buf_str(&line));
	return sys ? fh_error_sys(err, sys, "cannot write results to %s", f->path) : 0;
}

int fh_output_files_row(struct fh_output_files *f, struct fh_str text, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < f->count && r == 0; i++)
		if (f->items[i].kind->appends && f->items[i].regular)
			r = append(&f->items[i], text, err);
	return r;
}

/* ------------------------------------------------------------------------------------------------------------- end */

static int write_in_place(const struct file *f, const struct fh_output_data *data, struct fh_error *err)
{
	fh_auto_close int fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int failed = 0;
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot open %s", f->path);
	int r = print(f->kind, data, fd, &failed, err);
	return r == 0 && failed ? fh_error_sys(err, failed, "cannot write %s", f->path) : r;
}

/* Writes a temporary file beside the old one and renames it: a reader, or a crash, sees the old file or the new one. */
static int write_whole(const struct file *f, const struct fh_output_data *data, struct fh_error *err)
{
	uint64_t random = 0;
	struct stat st = { .st_mode = 0666 };
	fh_auto_free char *dir = fh_path_dir(f->real);
	(void)!getrandom(&random, sizeof(random), 0);
	fh_auto_free char *name = fh_xasprintf("%s/.fumehood-%016llx.tmp", dir, (unsigned long long)random);
	(void)fstat(f->fd, &st);
	fh_auto_close int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int failed = 0;
	if (fd < 0)
		return fh_error_sys(err, errno, "cannot write %s", f->path);
	int r = print(f->kind, data, fd, &failed, err);
	if (r == 0 && !failed && (fchmod(fd, st.st_mode & 0777) < 0 || fsync(fd) < 0 || rename(name, f->real) < 0))
		failed = errno;
	if (r < 0 || failed)
		(void)unlink(name);
	return r == 0 && failed ? fh_error_sys(err, failed, "cannot write %s", f->path) : r;
}

int fh_output_files_end(struct fh_output_files *f, const struct fh_output_data *data, struct fh_error *err)
{
	int result = 0;
	for (size_t i = 0; i < f->count; i++) {
		struct file *one = &f->items[i];
		int r = one->regular ? write_whole(one, data, result == 0 ? err : NULL)
		                     : write_in_place(one, data, result == 0 ? err : NULL);
		one->written = r == 0;
		result = result == 0 ? r : result;
	}
	return result;
}
