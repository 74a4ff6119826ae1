/* SPDX-License-Identifier: MIT */
#include "e2b/envd/file_reply.h"

#include <errno.h>

#include "base/buf.h"
#include "e2b/envd/entry.h"

/* A file of at most so many bytes is read before the reply begins, which is one write then. */
enum { WHOLE_MAX = 64 << 10 };

void fh_file_fail(struct fh_http_request *r, const struct fh_error *err, const char *path)
{
	static const struct {
		int sys;
		unsigned status;
	} statuses[] = { { ENOENT, 404 }, { ENOTDIR, 404 }, { EISDIR, 400 }, { EACCES, 403 }, { EPERM, 403 },
		             { EROFS, 403 },  { ENOSPC, 507 },  { EDQUOT, 507 }, { EFBIG, 507 },  { ENAMETOOLONG, 400 },
		             { ELOOP, 400 },  { EINVAL, 400 },  { ENXIO, 400 } }; /* the last two: no file */
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	unsigned status = err->code == FH_E_ARGUMENT ? 400 : 500;
	for (size_t i = 0; i < FH_ARRAY_SIZE(statuses); i++)
		if (err->sys == statuses[i].sys)
			status = statuses[i].status;
	fh_entry_fail(&e, err, path);
	fh_e2b_fail(r, status, "%s", e.message);
}

struct download {
	struct fh_file_stream *file;
	struct fh_buf first; /* beginning of the file, read ahead if the file's size is given as 0 */
	uint64_t left;       /* bytes of the promised length still to send; FH_HTTP_SIZE_UNKNOWN: up to the file's end */
};

static ssize_t read_download(void *context, char *buffer, size_t n)
{
	struct download *d = context;
	ssize_t got;
	if (d->first.n) {
		got = (ssize_t)FH_MIN(n, d->first.n);
		memcpy(buffer, d->first.p, (size_t)got);
		fh_buf_drop(&d->first, (size_t)got);
		return got;
	}
	if (d->left == 0)
		return 0;
	got = fh_file_stream_read(d->file, buffer, (size_t)FH_MIN((uint64_t)n, d->left), NULL);
	if (d->left != FH_HTTP_SIZE_UNKNOWN)
		d->left -= got > 0 ? (uint64_t)got : 0;
	return got == 0 && d->left && d->left != FH_HTTP_SIZE_UNKNOWN ? -1 : got; /* the file was truncated meanwhile */
}

static void free_download(void *context)
{
	struct download *d = context;
	(void)fh_file_stream_close(d->file, NULL);
	fh_buf_release(&d->first);
	free(d);
}

/* The bytes that are there count, if the file was truncated after its size was read. */
static void reply_whole(struct fh_http_request *r, FH_OWN struct fh_file_stream *file, unsigned status, uint64_t size)
{
	fh_auto_buf struct fh_buf bytes = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	char *room = fh_buf_reserve(&bytes, size);
	ssize_t got = 1;
	while (bytes.n < size && (got = fh_file_stream_read(file, room + bytes.n, size - bytes.n, &err)) > 0)
		bytes.n += (size_t)got;
	(void)fh_file_stream_close(file, NULL);
	if (got < 0)
		fh_e2b_fail(r, 500, "%s", err.message);
	else
		fh_http_reply(r, status, "application/octet-stream", fh_buf_str(&bytes));
}

void fh_file_reply(struct fh_http_request *r, struct fh_file_stream *file, unsigned status, uint64_t size)
{
	if (size > 0 && size <= WHOLE_MAX) {
		reply_whole(r, file, status, size);
		return;
	}
	struct download *d = FH_NEW(struct download);
	struct fh_http_source source = { read_download, free_download, d, size };
	char piece[4096];
	d->file = file;
	d->left = size;
	if (size == 0) { /* files of the kernel (/proc) have size 0 and may have content */
		ssize_t n = fh_file_stream_read(file, piece, sizeof(piece), NULL);
		if (n > 0) {
			fh_buf_add(&d->first, piece, (size_t)n);
			source.size = d->left = FH_HTTP_SIZE_UNKNOWN;
		}
	}
	if (source.size == 0) {
		free_download(d);
		fh_http_reply(r, status, "application/octet-stream", (struct fh_str){ 0 });
		return;
	}
	fh_http_reply_source(r, status, "application/octet-stream", &source);
}
