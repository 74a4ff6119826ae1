/* SPDX-License-Identifier: MIT */
#include "e2b/common/connect.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text/parse.h"
#include "e2b/common/fields.h"

enum { FRAME_HEAD = 5, FLAG_COMPRESSED = 1, FLAG_END = 2, KEEPALIVE_DEFAULT_S = 90, KEEPALIVE_MAX_S = 600 };

static const struct {
	const char *name;
	unsigned status;
} codes[FH_CONNECT_CODE_COUNT_] = {
	[FH_CONNECT_OK] = { "ok", 200 },
	[FH_CONNECT_CANCELED] = { "canceled", 499 },
	[FH_CONNECT_UNKNOWN] = { "unknown", 500 },
	[FH_CONNECT_INVALID_ARGUMENT] = { "invalid_argument", 400 },
	[FH_CONNECT_DEADLINE_EXCEEDED] = { "deadline_exceeded", 504 },
	[FH_CONNECT_NOT_FOUND] = { "not_found", 404 },
	[FH_CONNECT_ALREADY_EXISTS] = { "already_exists", 409 },
	[FH_CONNECT_PERMISSION_DENIED] = { "permission_denied", 403 },
	[FH_CONNECT_RESOURCE_EXHAUSTED] = { "resource_exhausted", 429 },
	[FH_CONNECT_FAILED_PRECONDITION] = { "failed_precondition", 400 },
	[FH_CONNECT_UNIMPLEMENTED] = { "unimplemented", 501 },
	[FH_CONNECT_INTERNAL] = { "internal", 500 },
	[FH_CONNECT_UNAVAILABLE] = { "unavailable", 503 },
	[FH_CONNECT_UNAUTHENTICATED] = { "unauthenticated", 401 },
};

int fh_connect_fail(struct fh_connect_error *e, enum fh_connect_code code, const char *format, ...)
{
	va_list args;
	e->code = code;
	va_start(args, format);
	vsnprintf(e->message, sizeof(e->message), format, args);
	va_end(args);
	return -1;
}

int fh_connect_fail_from(struct fh_connect_error *e, const struct fh_error *err)
{
	static const enum fh_connect_code of[FH_CODE_COUNT_] = {
		[FH_OK] = FH_CONNECT_UNKNOWN,
		[FH_E_ARGUMENT] = FH_CONNECT_INVALID_ARGUMENT,
		[FH_E_CONFIG] = FH_CONNECT_INVALID_ARGUMENT,
		[FH_E_NOT_FOUND] = FH_CONNECT_NOT_FOUND,
		[FH_E_SYSTEM] = FH_CONNECT_INTERNAL,
		[FH_E_LIMIT] = FH_CONNECT_RESOURCE_EXHAUSTED,
		[FH_E_PROTOCOL] = FH_CONNECT_INTERNAL,
		[FH_E_TIMEOUT] = FH_CONNECT_DEADLINE_EXCEEDED,
		[FH_E_CANCELLED] = FH_CONNECT_CANCELED,
		[FH_E_UNAVAILABLE] = FH_CONNECT_FAILED_PRECONDITION,
		[FH_E_BUG] = FH_CONNECT_INTERNAL,
	};
	return fh_connect_fail(e, of[err->code], "%s", err->message);
}

/* ---------------------------------------------------------------------------------------------------- unary calls */

static json_t *error_object(const struct fh_connect_error *e)
{
	json_t *o = json_object();
	json_object_set_new(o, "code", json_string(codes[e->code].name));
	json_object_set_new(o, "message", fh_json_bytes(fh_str(e->message)));
	return o;
}

void fh_connect_reply(struct fh_http_request *r, FH_OWN json_t *message)
{
	fh_http_reply_json(r, 200, message);
}

static void reply_error(struct fh_http_request *r, const struct fh_connect_error *e)
{
	fh_http_reply_json(r, codes[e->code].status, error_object(e));
}

void fh_connect_answer(struct fh_http_request *r, FH_OWN FH_NULLABLE json_t *answer, const struct fh_connect_error *e)
{
	if (answer)
		fh_connect_reply(r, answer);
	else
		reply_error(r, e);
}

FH_OWN json_t *fh_connect_request(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_connect_error e = FH_CONNECT_ERROR_INIT;
	if (body.n == 0)
		return json_object();
	json_t *o = fh_json_parse(body, NULL, &err);
	if (json_is_object(o) && fh_fields_check(o, &e) == 0)
		return o;
	if (!json_is_object(o))
		fh_connect_fail(&e, FH_CONNECT_INVALID_ARGUMENT, "the message is not a JSON object%s%s", err.code ? ": " : "",
		                err.code ? err.message : "");
	json_decref(o);
	reply_error(r, &e);
	return NULL;
}

/* -------------------------------------------------------------------------------------------------------- streams */

void fh_connect_frame(struct fh_buf *out, const json_t *message)
{
	fh_auto_free char *text = fh_json_text(message, 0);
	uint32_t n = htonl((uint32_t)strlen(text));
	fh_buf_addc(out, 0);
	fh_buf_add(out, &n, sizeof(n));
	fh_buf_adds(out, text);
}

void fh_connect_end(struct fh_buf *out, FH_NULLABLE const struct fh_connect_error *e)
{
	size_t mark = out->n;
	fh_auto_json json_t *o = json_object();
	if (e && e->code)
		json_object_set_new(o, "error", error_object(e));
	fh_connect_frame(out, o);
	if (out->n > mark)
		out->p[mark] = FLAG_END;
}

uint64_t fh_connect_timeout_ms(const struct fh_http_request *r)
{
	const char *value = fh_http_header(r, "Connect-Timeout-Ms");
	char *end = NULL;
	unsigned long long ms = value ? strtoull(value, &end, 10) : 0;
	return end && end != value && !*end ? ms : 0;
}

int64_t fh_connect_until_ns(uint64_t timeout_ms)
{
	int64_t most_ms = (INT64_MAX - fh_now_ns()) / FH_NS_PER_MS;
	return timeout_ms && timeout_ms < (uint64_t)most_ms ? fh_now_ns() + (int64_t)timeout_ms * FH_NS_PER_MS : INT64_MAX;
}

unsigned fh_connect_keepalive_s(const struct fh_http_request *r)
{
	const char *value = fh_http_header(r, "Keepalive-Ping-Interval");
	uint64_t s = KEEPALIVE_DEFAULT_S;
	if (value)
		(void)fh_parse_u64(value, 1, KEEPALIVE_MAX_S, &s, NULL);
	return (unsigned)s;
}

void fh_connect_parser_init(struct fh_connect_parser *p)
{
	*p = (struct fh_connect_parser){ .pending = FH_BUF_INIT(2 * FH_CONNECT_MESSAGE_MAX) };
}

void fh_connect_parser_release(struct fh_connect_parser *p)
{
	fh_buf_release(&p->pending);
}

/* Takes one message from the front of `pending`: returns 1 and *ret, or 0 when it is still incomplete. */
static int next_message(const struct fh_buf *pending, size_t *at, json_t **ret, struct fh_connect_error *e)
{
	uint32_t n;
	struct fh_error err = FH_ERROR_INIT;
	if (pending->n - *at < FRAME_HEAD)
		return 0;
	memcpy(&n, pending->p + *at + 1, sizeof(n));
	n = ntohl(n);
	if (pending->p[*at] & FLAG_COMPRESSED)
		return fh_connect_fail(e, FH_CONNECT_UNIMPLEMENTED, "compressed messages are not supported");
	if (pending->p[*at])
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "a message of the request has unknown flags (%u)",
		                       (uint8_t)pending->p[*at]);
	if (n > FH_CONNECT_MESSAGE_MAX)
		return fh_connect_fail(e, FH_CONNECT_RESOURCE_EXHAUSTED, "a message of %u bytes; at most %zu are allowed", n,
		                       FH_CONNECT_MESSAGE_MAX);
	if (pending->n - *at - FRAME_HEAD < n)
		return 0;
	json_t *o = fh_json_parse((struct fh_str){ pending->p + *at + FRAME_HEAD, n }, NULL, &err);
	if (!json_is_object(o)) {
		json_decref(o);
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "a message of the stream is not a JSON object");
	}
	int r = fh_fields_check(o, e);
	if (r < 0) {
		json_decref(o);
		return r;
	}
	*at += FRAME_HEAD + n;
	*ret = o;
	return 1;
}

int fh_connect_parser_add(struct fh_connect_parser *p, struct fh_str piece,
                          int (*take)(void *context, const json_t *message, struct fh_connect_error *e), void *context,
                          struct fh_connect_error *e)
{
	size_t at = 0;
	int r;
	if (fh_buf_add_str(&p->pending, piece) < 0)
		return fh_connect_fail(e, FH_CONNECT_RESOURCE_EXHAUSTED, "too much of the stream at once");
	for (;;) {
		fh_auto_json json_t *message = NULL;
		r = next_message(&p->pending, &at, &message, e);
		if (r <= 0 || (r = take(context, message, e)) < 0)
			break;
	}
	fh_buf_drop(&p->pending, at);
	return r;
}

static int take_first(void *context, const json_t *message, struct fh_connect_error *e)
{
	json_t **first = context;
	if (*first)
		return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "more than one message in the request");
	*first = json_incref((json_t *)(uintptr_t)message);
	return 0;
}

FH_OWN json_t *fh_connect_stream_request(struct fh_str body, struct fh_connect_error *e)
{
	struct fh_connect_parser p;
	json_t *first = NULL;
	fh_connect_parser_init(&p);
	int r = fh_connect_parser_add(&p, body, take_first, &first, e);
	if (r == 0 && (p.pending.n || !first))
		r = fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "the request holds no whole message");
	fh_connect_parser_release(&p);
	if (r == 0)
		return first;
	json_decref(first);
	return NULL;
}
