/* SPDX-License-Identifier: MIT */
/*
 * `fumehood view`: the viewer's server. Pages and scripts are compiled in (assets.h); what they show comes as JSON from
 * routes below /api, promptfoo's own among them, in its form (routes.h).
 *
 *     request ──▶ guard.h: who asks ──▶ a page or script of assets.h
 *                                  └──▶ a route of routes.h ──▶ the store
 *
 * Whatever the store holds is untrusted: it leaves this server as JSON only, and becomes text nodes in the page. Every
 * reply forbids inline script, frames and other origins by its headers, so that a mistake in the page would not be
 * enough.
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
