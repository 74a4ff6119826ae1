/* SPDX-License-Identifier: MIT */
/*
 * What the files of the HTTP server share, and the one place that includes libmicrohttpd. Only http*.c include this.
 *
 *     http.c          the server, and how a request goes through it
 *     http_request.c  what a handler reads of a request
 *     http_form.c     forms in a request's body
 *     http_reply.c    what a handler replies
 */
#pragma once
#include <microhttpd.h>
#include <stdatomic.h>

#include "server/http.h"
#include "server/http_target.h"

enum { FH_HTTP_BLOCK = 64 << 10 }; /* bytes of a body that are streamed or parsed at once */

struct fh_http_server {
	struct fh_http_options options;
	struct MHD_Daemon *daemon;
	uint16_t port;
	atomic_bool stopping;
};

struct fh_http_reply_header {
	char *name, *value;
};

/* A pointer that a request carries for a handler, and what releases it. */
struct fh_http_carried {
	void *thing;
	void (*release)(void *thing);
};

struct fh_http_request {
	struct fh_http_server *server;
	struct MHD_Connection *connection;
	struct fh_target target;
	char *raw;
	const char *method;
	const struct fh_http_route *route;
	const char *captured[FH_TARGET_SEGMENTS_MAX];
	size_t captured_count;
	struct fh_buf body;
	uint64_t dropped;
	struct MHD_Response *response; /* the reply, from when the handler makes it until it is queued */
	unsigned status;
	struct fh_http_reply_header headers[FH_HTTP_REPLY_HEADERS_MAX];
	size_t header_count;
	struct fh_http_carried tag, kept;
	int64_t began_ns;
	bool begun, malformed, queued;
	bool ambiguous; /* its head can be read in two ways */
};

/* Releases what is carried, and carries `thing` from now on. */
static inline void fh_http_carry(struct fh_http_carried *c, void *thing, void (*release)(void *thing))
{
	if (c->release)
		c->release(c->thing);
	*c = (struct fh_http_carried){ thing, release };
}

/* The connection's socket, or -1. */
static inline int fh_http_connection_fd(const struct fh_http_request *r)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? info->connect_fd : -1;
}
