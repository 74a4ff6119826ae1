/* SPDX-License-Identifier: MIT */
/*
 * A WebSocket to a server. libcurl makes the connection (names, proxies, TLS with certificates verified) and carries
 * the bytes; the protocol is in websocket_frames.h, because Debian 12's libcurl has it not.
 */
#pragma once
#include "provider/http/http.h"
#include "provider/http/websocket_frames.h"

struct fh_websocket_options {
	const char *url;                        /* ws:// or wss:// */
	FH_NULLABLE const char *const *headers; /* "Name: value", NULL-terminated */
	struct fh_http_tls tls;
	int64_t deadline_ns; /* of everything, on the clock of fh_now_ns() */
	FH_NULLABLE const volatile int *cancel;
};

struct fh_websocket;

/* FH_E_CONFIG: the URL is none; FH_E_UNAVAILABLE: no connection, or the server refused it; FH_E_TIMEOUT;
 * FH_E_CANCELLED. */
int fh_websocket_open(const struct fh_websocket_options *options, struct fh_websocket **ret, struct fh_error *err);
void fh_websocket_free(struct fh_websocket *w); /* says goodbye, without waiting for an answer; NULL is fine */
static inline void fh_websocket_freep(struct fh_websocket **w)
{
	fh_websocket_free(*w);
}
#define fh_auto_websocket FH_CLEANUP(fh_websocket_freep)

int fh_websocket_send_text(struct fh_websocket *w, struct fh_str text, struct fh_error *err);
/* The next message, text or binary; valid until the next call. FH_E_UNAVAILABLE when the server ended the
 * connection, FH_E_LIMIT for a message of more than FH_HTTP_BODY_MAX bytes. */
int fh_websocket_receive(struct fh_websocket *w, struct fh_str *ret, struct fh_error *err);
