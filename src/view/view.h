/* SPDX-License-Identifier: MIT */
/*
 * `fumehood view`: the viewer's server. Pages and scripts are compiled in (assets.h); they get their data as JSON from
 * routes below /api (routes.h), some of which are promptfoo's, with its formats.
 *
 *     request ──▶ guard.h: is it allowed ──▶ a page or script of assets.h
 *                                         └──▶ a route of routes.h ──▶ the store
 *
 * The store's content is untrusted: it leaves this server only as JSON, and becomes text nodes in the page. The headers
 * of every reply forbid inline scripts, frames and other origins, so a mistake in the page alone is not enough for an
 * attack.
 */
#pragma once
#include "server/http.h"
#include "view/guard.h"

struct fh_view_options {
	const char *const *names; /* further names that the Host header may have besides localhost; borrowed */
	size_t name_count;
};

struct fh_view;
/* The caller opens the listening socket and passes the port to fh_view_listening. */
int fh_view_open(const struct fh_view_options *o, struct fh_view **ret, struct fh_error *err);
void fh_view_listening(struct fh_view *v, uint16_t port);
void fh_view_close(struct fh_view *v); /* NULL is fine; the HTTP server has to be stopped first */
/* The token that URLs for other machines need; hexadecimal. */
const char *fh_view_token(const struct fh_view *v);

/* For struct fh_http_options; context is the struct fh_view. */
const struct fh_http_route *fh_view_route(void *context, struct fh_http_request *r);
