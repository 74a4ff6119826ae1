/* SPDX-License-Identifier: MIT */
/*
 * The Connect protocol (connectrpc.com/docs/protocol) with JSON messages, as far as E2B's SDKs use it: unary calls,
 * streams from the server, and streams from the client.
 *
 * In a stream each message is framed: one byte of flags (bit 0: compressed, which is refused; bit 1: end of stream),
 * four bytes of length, big-endian, then the JSON text. An error in a stream is reported in its last frame; the
 * status is 200.
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

/* The error of a call; code FH_CONNECT_OK: no error. Plain data. */
struct fh_connect_error {
	enum fh_connect_code code;
	char message[512];
};
#define FH_CONNECT_ERROR_INIT                                                                                          \
	{                                                                                                                  \
		.code = FH_CONNECT_OK                                                                                          \
	}
/* Sets *e and returns -1, for the return statement of the caller. */
int fh_connect_fail(struct fh_connect_error *e, enum fh_connect_code code, const char *format, ...) FH_PRINTF(3, 4);
/* Sets *e from an error of libfumehood. Returns -1. */
int fh_connect_fail_from(struct fh_connect_error *e, const struct fh_error *err);

/* The object in the body of a unary call; an empty body is an empty object. NULL after it has replied with an error. */
FH_OWN json_t *fh_connect_request(struct fh_http_request *r, struct fh_str body);
/* The message of a request whose answer is a stream. NULL with *e set. */
FH_OWN json_t *fh_connect_stream_request(struct fh_str body, struct fh_connect_error *e);
void fh_connect_reply(struct fh_http_request *r, FH_OWN json_t *message);
/* Replies with the answer, or with the error where there is none. */
void fh_connect_answer(struct fh_http_request *r, FH_OWN FH_NULLABLE json_t *answer, const struct fh_connect_error *e);

#define FH_CONNECT_STREAM_TYPE "application/connect+json"
void fh_connect_frame(struct fh_buf *out, const json_t *message);
void fh_connect_end(struct fh_buf *out, FH_NULLABLE const struct fh_connect_error *e);

/* The time limit of the call from the header Connect-Timeout-Ms, in ms; 0: no limit. */
uint64_t fh_connect_timeout_ms(const struct fh_http_request *r);
/* When a stream with this timeout ends (fh_now_ns); INT64_MAX for 0, no timeout. */
int64_t fh_connect_until_ns(uint64_t timeout_ms);
/* After how many seconds without other frames a stream sends a keepalive. */
unsigned fh_connect_keepalive_s(const struct fh_http_request *r);

/* Splits a stream from the client into messages, as its pieces arrive. */
struct fh_connect_parser {
	struct fh_buf pending;
};
#define FH_CONNECT_MESSAGE_MAX ((size_t)4 << 20)
void fh_connect_parser_init(struct fh_connect_parser *p);
void fh_connect_parser_release(struct fh_connect_parser *p);
/* Calls take with each complete message; stops when it returns a negative code. Negative with *e set: the stream is
 * malformed. */
int fh_connect_parser_add(struct fh_connect_parser *p, struct fh_str piece,
                          int (*take)(void *context, const json_t *message, struct fh_connect_error *e), void *context,
                          struct fh_connect_error *e);
