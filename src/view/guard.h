/* SPDX-License-Identifier: MIT */
/*
 * Decides who may use the viewer, for each request and before any route sees it.
 *
 *   1. The Host header names this machine: an address, localhost, or a name that the user configured. An attacker's
 *      name that resolves to 127.0.0.1 (DNS rebinding) is refused.
 *   2. Origin, if a browser sends it, matches Host; Sec-Fetch-Site is not another site, except for a link that is
 *      followed to a page. Thus a page of another origin cannot read or do anything, and does not even learn that an
 *      eval exists.
 *   3. The client is the user who started the viewer: the kernel says that the client's socket belongs to the same
 *      user of this machine (loopback connections only), or the client has the token, once in the URL and then as a
 *      cookie, or as "Authorization: Bearer TOKEN".
 */
#pragma once
#include "server/http.h"

enum { FH_VIEW_TOKEN_MAX = 32 };

struct fh_view_guard {
	char token[FH_VIEW_TOKEN_MAX + 1]; /* hexadecimal, 128 bits */
	char cookie[32];                   /* its cookie's name, with the port: cookies apply to all ports of a host */
	const char *const *names;          /* further names that Host may have besides localhost; borrowed */
	size_t name_count;
};

/* Makes a new token. */
int fh_view_guard_init(struct fh_view_guard *g, const char *const *names, size_t name_count, struct fh_error *err);
/* Sets the port, once it is known. */
void fh_view_guard_listening(struct fh_view_guard *g, uint16_t port);

/* True: the request is allowed. False: it was refused, with a reply. is_page: links of other sites may lead here, and a
 * token in the URL becomes a cookie. */
bool fh_view_guard_admit(const struct fh_view_guard *g, struct fh_http_request *r, bool is_page);

/* A part of fh_view_guard_admit, for tests. `host` is the header's value; NULL: it is missing. */
bool fh_view_guard_knows_host(const struct fh_view_guard *g, FH_NULLABLE const char *host);
