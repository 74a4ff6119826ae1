/* SPDX-License-Identifier: MIT */
/*
 * An HTTP/1.1 server for commands that have a port (over libmicrohttpd, which no other folder knows).
 *
 *     listening socket ──▶ one thread for each connection ──route──▶ a handler ──▶ exactly one reply
 *
 * Every connection has a thread of its own, so a handler and the source of a streamed reply may block; a slow client
 * stalls only its own thread. Connections, bodies, headers and the stack of each thread are bounded by the options.
 *
 * Ownership: the server owns a request, which lives until its reply was sent or its client has disconnected; what a
 * handler keeps with fh_http_request_keep is released with it. Strings from a request live as long as the request.
 *
 * A request is routed when its head has arrived. The route's handler then gets the whole body (`handle`), or pieces of
 * it as they arrive (`piece`, then `handle` with an empty body). A handler has to reply exactly once; when it does not,
 * the client gets status 500.
 *
 * Paths are split at '/' before they are decoded, so an encoded slash stays within its segment. A request whose path or
 * query is malformed or contains an encoded NUL gets status 400 and is never routed.
 */
#pragma once
#include <netinet/in.h>
#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"

struct fh_http_server;
struct fh_http_request;

enum { FH_HTTP_REPLY_HEADERS_MAX = 64 };

struct fh_http_route {
	const char *method; /* HTTP method, such as "GET"; NULL ends a table */
	const char
	    *pattern; /* "/sandboxes/{id}/timeout": a segment in braces matches any text; "*" at the end matches the rest */
	void (*handle)(struct fh_http_request *r, struct fh_str body);
	/* For a body that is processed as it arrives: returns 0, or negative after it has replied (the rest of the body is
	 * then read and dropped). NULL: the body is collected. */
	int (*piece)(struct fh_http_request *r, struct fh_str piece);
	uint64_t body_max; /* maximum bytes of a body; 0: the server's limit */
	unsigned flags;    /* for the caller's use */
};

struct fh_http_options {
	struct sockaddr_storage address; /* where to listen; port 0: any free one */
	int listener;                    /* a listening socket, taken over; -1: the server opens one at `address` */
	/* Called with the head of each request. Returns the route, or NULL after it has replied. */
	const struct fh_http_route *(*route)(void *context, struct fh_http_request *r);
	/* Called after each request, for a log; may be NULL. status 0: the client had disconnected before a reply. */
	void (*done)(void *context, const struct fh_http_request *r, unsigned status, int64_t took_ns);
	void *context;
	uint64_t body_max;                     /* maximum bytes of a collected body; 0: 16 MiB */
	unsigned connections_max;              /* maximum of connections; 0: 4096 */
	unsigned idle_seconds;                 /* a connection is closed after so long without a request; 0: 640 */
	const char *tls_certificate, *tls_key; /* PEM text; NULL: plain HTTP */
};

int fh_http_server_start(const struct fh_http_options *o, struct fh_http_server **ret, struct fh_error *err);
uint16_t fh_http_server_port(const struct fh_http_server *s);
/* Refuses new connections, ends open streams (fh_http_stopping), and waits for the threads. NULL is fine. */
void fh_http_server_stop(struct fh_http_server *s);

/* ---------------------------------------------------------------------------------------------------- the request */

const char *fh_http_method(const struct fh_http_request *r);
const char *fh_http_path(
    const struct fh_http_request *r); /* as sent, without the query; ASCII without control characters */
/* The decoded text that the pattern's n-th segment in braces (from 0) matched. Never NULL. */
const char *fh_http_segment(const struct fh_http_request *r, size_t n);
/* The value of a header or query parameter; NULL when it is missing. When a header occurs twice, the first one. */
const char *fh_http_header(const struct fh_http_request *r, const char *name);
const char *fh_http_query(const struct fh_http_request *r, const char *name);
/* The n-th value (from 0) of a query parameter that may occur several times; NULL when there are fewer. */
FH_NULLABLE const char *fh_http_query_nth(const struct fh_http_request *r, const char *name, size_t n);
/* Every header, in order, until visit returns false. */
void fh_http_headers(const struct fh_http_request *r, bool (*visit)(void *context, const char *name, const char *value),
                     void *context);
/* The target as sent, with its query, not decoded: for a proxy. */
const char *fh_http_target(const struct fh_http_request *r);
bool fh_http_from_loopback(const struct fh_http_request *r);
/* The user who owns the client's end of a connection within this machine. False: unknown. */
bool fh_http_peer_uid(const struct fh_http_request *r, uid_t *ret);
/* The first route of the table that matches; fh_http_segment then reads its segments. NULL when none does:
 * *ret_other_method then says whether a route with another method would match. */
const struct fh_http_route *fh_http_route_find(const struct fh_http_route *table, struct fh_http_request *r,
                                               bool *ret_other_method);

/* Two pointers that a request carries: what routing found (a tenant, a sandbox), and what a handler keeps between the
 * pieces of a body. Each is released with the request (release may be NULL), or when it is set again. */
void fh_http_request_tag(struct fh_http_request *r, void *tag, void (*release)(void *tag));
void *fh_http_request_tagged(const struct fh_http_request *r);
void fh_http_request_keep(struct fh_http_request *r, void *kept, void (*release)(void *kept));
void *fh_http_request_kept(const struct fh_http_request *r);
void *fh_http_context(const struct fh_http_request *r);
const struct fh_http_route *fh_http_route_of(const struct fh_http_request *r);

/* Whether the client has closed its side; a source without data to send should check now and then. */
bool fh_http_peer_gone(const struct fh_http_request *r);
bool fh_http_stopping(const struct fh_http_request *r);

/* ------------------------------------------------------------------------------------------------------------ forms */

/* Reads a form (multipart/form-data or application/x-www-form-urlencoded) from a body that arrives in pieces. on_data
 * gets the bytes of each part in order; offset 0 begins a part, and an empty part causes one call. filename may be
 * NULL. It returns false to stop. */
struct fh_http_form;
typedef bool fh_http_form_data(void *context, const char *name, const char *filename, uint64_t offset,
                               struct fh_str data);
/* NULL: the request's Content-Type is not that of a form. */
FH_OWN FH_NULLABLE struct fh_http_form *fh_http_form_new(struct fh_http_request *r, fh_http_form_data *on_data,
                                                         void *context);
/* False: the form is malformed, or on_data stopped it. */
bool fh_http_form_add(struct fh_http_form *f, struct fh_str piece);
/* Delivers the last piece and frees the form. False: it ended before its last boundary. NULL is fine. */
bool fh_http_form_end(struct fh_http_form *f);

/* ------------------------------------------------------------------------------------------------------ the reply */

/* Adds a header to the reply. One with a line break or control character in its value is dropped. */
void fh_http_reply_header(struct fh_http_request *r, const char *name, const char *value);
void fh_http_reply(struct fh_http_request *r, unsigned status, const char *type, struct fh_str body);
void fh_http_reply_empty(struct fh_http_request *r, unsigned status); /* Content-Length: 0, except for 204 and 304 */
void fh_http_reply_json(struct fh_http_request *r, unsigned status, FH_OWN json_t *value);

/* A body of unknown length. read: waits for data; returns the number of bytes written to buffer, 0 at the end, or a
 * negative number to cut the connection with a reset, so that the client cannot take the part for the whole. release:
 * called exactly once. */
struct fh_http_source {
	ssize_t (*read)(void *context, char *buffer, size_t n);
	void (*release)(void *context);
	void *context;
	uint64_t size; /* bytes if known, else FH_HTTP_SIZE_UNKNOWN: the body is sent in chunks */
};
#define FH_HTTP_SIZE_UNKNOWN UINT64_MAX
void fh_http_reply_source(struct fh_http_request *r, unsigned status, FH_NULLABLE const char *type,
                          const struct fh_http_source *source);

/* Status 101: passes the connection to `take`, which runs on the connection's thread and gets what the client has
 * already sent. The descriptor is closed after it returns. */
void fh_http_reply_upgrade(struct fh_http_request *r, void (*take)(void *context, int fd, struct fh_str early),
                           void (*release)(void *context), void *context);
