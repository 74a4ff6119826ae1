/* SPDX-License-Identifier: MIT */
/*
 * Who may ask the viewer for anything: decided here, for each request, before a route sees it.
 *
 *   1. Host names this machine: an address, localhost, or a name that the user gave. A name of the attacker's own that
 *      resolves to 127.0.0.1 (DNS rebinding) is refused.
 *   2. Origin, where a browser sends it, is that of the Host; Sec-Fetch-Site is not another site's, except where
 *      somebody follows a link to a page. A page of another origin can thus neither read nor do anything, and does not
 *      even learn that an eval exists.
 *   3. The client is the user who started the viewer: its socket belongs to the same user of this machine (the kernel
 *      says so; loopback connections only), or it brings the token, once in the URL and from then on as a cookie, or as
 *      "Authorization: Bearer TOKEN".
 */
#pragma once
#include "server/http.h"

enum { FH_VIEW_TOKEN_MAX = 32 };

struct fh_view_guard {
	char token[FH_VIEW_TOKEN_MAX + 1]; /* hexadecimal, 128 bits */
	char cookie[32];                   /* its cookie's name, with the port: cookies know none */
	const char *const *names;          /* names that Host may say besides localhost; borrowed */
	size_t name_count;
};

/* A new token. */
int fh_view_guard_init(struct fh_view_guard *g, const char *const *names, size_t name_count, struct fh_error *err);
/* When the port is known. */
void fh_view_guard_listening(struct fh_view_guard *g, uint16_t port);

/* True: the request may go on. False: it has been replied to. is_page: somebody may come by a link of another site, and
 * a token in the URL becomes a cookie. */
bool fh_view_guard_admit(const struct fh_view_guard *g, struct fh_http_request *r, bool is_page);

/* Its parts, for tests. `host` is the header's value, NULL for none. */
bool fh_view_guard_knows_host(const struct fh_view_guard *g, FH_NULLABLE const char *host);
bool fh_view_guard_same_origin(const char *origin, const char *host);
