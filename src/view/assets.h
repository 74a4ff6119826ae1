/* SPDX-License-Identifier: MIT */
/*
 * The viewer's pages, scripts and styles: the files of web/, compressed and compiled in by tools/embed-web. No file of
 * the host is ever opened for a request.
 */
#pragma once
#include "server/http.h"

struct fh_view_asset {
	const char *path; /* from web/ on: "app.js"; NULL ends the table */
	const char *type, *etag;
	const unsigned char *gzip;
	size_t gzip_size, size; /* size: of the file itself */
};
extern const struct fh_view_asset fh_view_assets[];

FH_NULLABLE const struct fh_view_asset *fh_view_asset_find(const char *path);
/* Replies with the asset: 304 where the client has it, and not compressed to one that does not take gzip. */
void fh_view_asset_reply(const struct fh_view_asset *a, struct fh_http_request *r);
