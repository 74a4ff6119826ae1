/* SPDX-License-Identifier: MIT */
/*
 * The Connect protocol (connectrpc.com/docs/protocol) with JSON messages, as far as E2B's SDKs speak it: unary calls,
 * streams from the server, and streams from the client.
 *
 * A message in a stream is framed: one byte of flags (bit 0: compressed, which is refused; bit 1: end of stream), four
 * bytes of length, big-endian, then the JSON text. What fails in a stream is told in its last frame, with status 200.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"
#include "server/http.h"

enum fh_connect_code {
	FH_CONNECT_OK,
	FH_CONNECT_CANCELED,
	FH_CONNECT_UNKNOWN,
	FH_CONNECT_INVALID_ARGUMENT,
	FH_CONNECT_DEADLINE_EXCEEDED,
	FH_CONNECT_NOT_FOUND,
	FH_CONNECT_ALREADY_EXISTS,
	FH_CONNECT_PERMISSION_DENIED,
	FH_CONNECT_RESOURCE_EXHAUSTED,
	FH_CONNECT_FAILED_PRECONDITION,
	FH_CONNECT_UNIMPLEMENTED,
	FH_CONNECT_INTERNAL,
	FH_CONNECT_UNAVAILABLE,
	FH_CONNECT_UNAUTHENTICATED,
	FH_CONNECT_CODE_COUNT_
};

/* What a call failed with; code FH_CONNECT_OK: it did not. Plain data. */
struct fh_connect_error {
	enum fh_connect_code code;
	char message[512];
};
#define FH_CONNECT_ERROR_INIT                                                                                          \
	{                                                                                                                  \
		.code = FH_CONNECT_OK                                                                                          \
	}
const char *fh_connect_code_name(enum fh_connect_code code); /* "not_found" */
/* Returns -1, so that a failing function ends with it. */
int fh_connect_fail(struct fh_connect_error *e, enum fh_connect_code code, const char *format, ...) FH_PRINTF(3, 4);
/* The same from an error of libfumehood. */
int fh_connect_fail_from(struct fh_connect_error *e, const struct fh_error *err);

/* A unary call: the object of its body; a body that is empty is an empty object. NULL after it has replied. */
FH_OWN json_t *fh_connect_request(struct fh_http_request *r, struct fh_str body);
/* The one message of a request whose answer is a stream. NULL with *e set. */
FH_OWN json_t *fh_connect_stream_request(struct fh_str body, struct fh_connect_error *e);
void fh_connect_reply(struct fh_http_request *r, FH_OWN json_t *message);
void fh_connect_reply_error(struct fh_http_request *r, const struct fh_connect_error *e);

#define FH_CONNECT_STREAM_TYPE "application/connect+json"
void fh_connect_frame(struct fh_buf *out, const json_t *message);
void fh_connect_end(struct fh_buf *out, FH_NULLABLE const struct fh_connect_error *e);

/* The lifetime that the header Connect-Timeout-Ms gives, in ms; 0: none. */
uint64_t fh_connect_timeout_ms(const struct fh_http_request *r);
/* The seconds of silence after which a stream sends a keepalive. */
unsigned fh_connect_keepalive_s(const struct fh_http_request *r);

/* Takes a stream from the client apart, as its pieces arrive. */
struct fh_connect_parser {
	struct fh_buf pending;
};
#define FH_CONNECT_MESSAGE_MAX ((size_t)4 << 20)
void fh_connect_parser_init(struct fh_connect_parser *p);
void fh_connect_parser_release(struct fh_connect_parser *p);
/* Calls take with each whole message; stops when it returns negative. Negative with *e set: the stream is broken. */
int fh_connect_parser_add(struct fh_connect_parser *p, struct fh_str piece,
                          int (*take)(void *context, const json_t *message, struct fh_connect_error *e), void *context,
                          struct fh_connect_error *e);
