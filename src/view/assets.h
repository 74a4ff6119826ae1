/* SPDX-License-Identifier: MIT */
/*
 * The viewer's pages, scripts and styles: the files of web/, compressed and compiled in by tools/embed-web. Requests
 * never open a file of the host.
 */
#pragma once
#include "server/http.h"

struct fh_view_asset {
	const char *path; /* path below web/: "app.js"; NULL ends the table */
	const char *type, *etag;
	const unsigned char *gzip;
	size_t gzip_size, size; /* size: uncompressed */
};
extern const struct fh_view_asset fh_view_assets[];

FH_NULLABLE const struct fh_view_asset *fh_view_asset_find(const char *path);
/* Replies with the asset; with 304 if the client has it already, and uncompressed if the client does not accept
 * gzip. */
void fh_view_asset_reply(const struct fh_view_asset *a, struct fh_http_request *r, unsigned status);
