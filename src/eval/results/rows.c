/* SPDX-License-Identifier: MIT */
#include "eval/results/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"

#define MEMORY_MAX ((size_t)2 << 20)
#define AHEAD_MAX ((size_t)256 << 10)

struct place {
	uint64_t at;   /* offset in the rows so far: those before `written` are in the file, the others in memory */
	uint32_t size; /* 0: the cell has no row */
};

struct fh_eval_rows {
	struct place *places;
	size_t count;
	struct fh_buf memory; /* the newest rows */
	uint64_t written;     /* bytes in the file */
	int fd;               /* file for rows; -1: not opened yet, or it could not be opened */
	bool no_file;
	struct fh_buf ahead; /* a piece of the file around the last row that was read: outputs read row by row */
	uint64_t ahead_at;
};

struct fh_eval_rows *fh_eval_rows_new(size_t count)
{
	struct fh_eval_rows *r = FH_NEW(struct fh_eval_rows);
	r->places = fh_xcalloc(count + 1, sizeof(*r->places));
	r->count = count;
	r->memory = (struct fh_buf)FH_BUF_INIT((size_t)1 << 40);
	r->ahead = (struct fh_buf)FH_BUF_INIT(AHEAD_MAX + 1);
	r->fd = -1;
	return r;
}

void fh_eval_rows_free(struct fh_eval_rows *r)
{
	if (!r)
		return;
	fh_buf_release(&r->memory);
	fh_buf_release(&r->ahead);
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

/* Writes, or reads, all n bytes at an offset of the file. */
static bool transfer(bool write, int fd, char *p, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t done = write ? pwrite(fd, p, n, (off_t)at) : pread(fd, p, n, (off_t)at);
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

/* Moves the rows in memory to the file. Where that cannot be done (a full disk), they stay in memory. */
static void write_out(struct fh_eval_rows *r)
{
	if (r->fd < 0 && !r->no_file)
		open_file(r);
	if (r->no_file)
		return;
	if (!transfer(true, r->fd, r->memory.p, r->memory.n, r->written)) {
		r->no_file = true;
		return;
	}
	r->written += r->memory.n;
	fh_buf_truncate(&r->memory, 0);
}

void fh_eval_rows_put(struct fh_eval_rows *r, size_t cell, struct fh_str text)
{
	if (r->memory.n > 0 && r->memory.n + text.n > MEMORY_MAX)
		write_out(r);
	r->places[cell] = (struct place){ .at = r->written + r->memory.n, .size = (uint32_t)text.n };
	fh_buf_add_str(&r->memory, text);
}

static bool read_into(int fd, struct fh_buf *out, size_t n, uint64_t at)
{
	char *to = fh_buf_reserve(out, n);
	if (!to || !transfer(false, fd, to, n, at))
		return false;
	out->n += n;
	out->p[out->n] = '\0';
	return true;
}

/* A row of the file, usually out of the piece that was read last. */
static bool read_back(struct fh_eval_rows *r, const struct place *p, struct fh_buf *out)
{
	bool inside = p->at >= r->ahead_at && p->at + p->size <= r->ahead_at + r->ahead.n;
	if (!inside && p->size > AHEAD_MAX)
		return read_into(r->fd, out, p->size, p->at);
	if (!inside) {
		fh_buf_truncate(&r->ahead, 0);
		r->ahead_at = p->at;
		if (!read_into(r->fd, &r->ahead, FH_MIN(AHEAD_MAX, (size_t)(r->written - p->at)), p->at))
			return false;
	}
	return fh_buf_add(out, r->ahead.p + (p->at - r->ahead_at), p->size) == 0;
}

bool fh_eval_rows_get(struct fh_eval_rows *r, size_t cell, struct fh_buf *out)
{
	const struct place *p = &r->places[cell];
	fh_buf_truncate(out, 0);
	if (p->size == 0)
		return false;
	if (p->at < r->written)
		return read_back(r, p, out);
	return fh_buf_add(out, r->memory.p + (p->at - r->written), p->size) == 0;
}
