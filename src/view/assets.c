/* SPDX-License-Identifier: MIT */
#include "view/assets.h"

#include <zlib.h>

FH_NULLABLE const struct fh_view_asset *fh_view_asset_find(const char *path)
{
	for (const struct fh_view_asset *a = fh_view_assets; a->path; a++)
		if (fh_streq(a->path, path))
			return a;
	return NULL;
}

/* Selects gzip's framing: windowBits of 16 and more (zlib.h). */
static bool unpack(const struct fh_view_asset *a, char *out)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)a->gzip,
		           .avail_in = (uInt)a->gzip_size,
		           .next_out = (Bytef *)out,
		           .avail_out = (uInt)a->size };
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return false;
	int r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return r == Z_STREAM_END && z.avail_out == 0;
}

void fh_view_asset_reply(const struct fh_view_asset *a, struct fh_http_request *r, unsigned status)
{
	const char *has = fh_http_header(r, "If-None-Match"), *takes = fh_http_header(r, "Accept-Encoding");
	fh_http_reply_header(r, "ETag", a->etag);
	fh_http_reply_header(r, "Cache-Control", "no-cache");
	fh_http_reply_header(r, "Vary", "Accept-Encoding");
	if (has && strstr(has, a->etag)) {
		fh_http_reply_empty(r, 304);
	} else if (takes && strstr(takes, "gzip")) {
		fh_http_reply_header(r, "Content-Encoding", "gzip");
		fh_http_reply(r, status, a->type, (struct fh_str){ (const char *)a->gzip, a->gzip_size });
	} else {
		fh_auto_free char *plain = fh_xcalloc(a->size + 1, 1);
		if (unpack(a, plain))
			fh_http_reply(r, status, a->type, (struct fh_str){ plain, a->size });
	}
}
