/* SPDX-License-Identifier: MIT */
#include "eval/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"

#define MEMORY_MAX ((size_t)4 << 20)

struct place {
	uint64_t at;
	uint32_t size; /* 0: the cell has no row */
	bool in_file;
};

struct fh_eval_rows {
	struct place *places;
	size_t count;
	struct fh_buf memory;
	int fd; /* file for rows; -1: not opened yet, or it could not be opened */
	bool no_file;
	uint64_t file_size;
};

struct fh_eval_rows *fh_eval_rows_new(size_t count)
{
	struct fh_eval_rows *r = FH_NEW(struct fh_eval_rows);
	r->places = fh_xcalloc(count + 1, sizeof(*r->places));
	r->count = count;
	r->memory = (struct fh_buf)FH_BUF_INIT((size_t)1 << 40);
	r->fd = -1;
	return r;
}

void fh_eval_rows_free(struct fh_eval_rows *r)
{
	if (!r)
		return;
	fh_buf_release(&r->memory);
	fh_closep(&r->fd);
	free(r->places);
	free(r);
}

static void open_file(struct fh_eval_rows *r)
{
	const char *dir = getenv("TMPDIR");
	r->fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	r->no_file = r->fd < 0;
}

static bool write_all_at(int fd, const char *p, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	return true;
}

void fh_eval_rows_put(struct fh_eval_rows *r, size_t cell, struct fh_str text)
{
	struct place *p = &r->places[cell];
	if (r->memory.n + text.n > MEMORY_MAX && r->fd < 0 && !r->no_file)
		open_file(r);
	*p = (struct place){ .size = (uint32_t)text.n };
	if (r->fd >= 0 && write_all_at(r->fd, text.p, text.n, r->file_size)) {
		p->in_file = true;
		p->at = r->file_size;
		r->file_size += text.n;
		return;
	}
	p->at = r->memory.n;
	fh_buf_add_str(&r->memory, text);
}

static bool read_all_at(int fd, char *p, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t done = pread(fd, p, n, (off_t)at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	return true;
}

bool fh_eval_rows_get(struct fh_eval_rows *r, size_t cell, struct fh_buf *out)
{
	const struct place *p = &r->places[cell];
	fh_buf_truncate(out, 0);
	if (p->size == 0)
		return false;
	if (!p->in_file)
		return fh_buf_add(out, r->memory.p + p->at, p->size) == 0;
	char *to = fh_buf_reserve(out, p->size);
	if (!to || !read_all_at(r->fd, to, p->size, p->at))
		return false;
	out->n += p->size;
	out->p[out->n] = '\0';
	return true;
}
