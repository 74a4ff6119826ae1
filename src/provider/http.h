/* SPDX-License-Identifier: MIT */
/*
 * HTTP requests, over libcurl, which only http.c includes.
 *
 * http and https only; certificates are verified unless a request says otherwise; no redirect is followed (a POST with
 * a key must not wander). What may pass by itself is tried again: connections that fail or break (but not one that is
 * refused where none was ever made: nobody started the server), 408, 429 and 5xx (but 501 and 505), after a pause that
 * doubles each time, with jitter, or as long as the server asks (rate_headers.h). How many requests are under way
 * adapts to its 429s (limiter.h). Answers are bounded.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

struct fh_http; /* keeps connections; one per provider, safe from any thread */

#define FH_HTTP_BODY_MAX ((size_t)64 << 20)

/* start_hint: how a server of this kind is started, for when nothing listens there; static. */
FH_OWN struct fh_http *fh_http_new(const char *start_hint);
void fh_http_free(struct fh_http *http); /* no request may be under way; NULL is fine */

struct fh_http_tls {
	bool insecure;                                  /* the user wants no certificate verified */
	FH_NULLABLE const char *ca, *certificate, *key; /* files (PEM) */
};

struct fh_http_request {
	const char *url;
	FH_NULLABLE const char *const *headers; /* "Name: value", NULL-terminated */
	bool post;
	FH_NULLABLE const char *method; /* NULL: POST or GET, as `post` says */
	struct fh_str body;             /* of a POST, or of a method that is neither GET nor HEAD */
	struct fh_http_tls tls;
	/* Body of a 2xx answer as it comes, beside the whole in the response; p is NULL when a try begins. NULL: none. */
	void (*on_data)(void *context, struct fh_str data);
	/* Says that a 2xx answer was cut, as no length told it: it is tried again. NULL: none is. */
	bool (*is_cut)(void *context);
	void *context;
	uint64_t stall_ms;     /* so long without a byte ends the try; 0: only timeout_ms does */
	uint64_t timeout_ms;   /* of one try; 0: 300 s */
	unsigned retries;      /* tries after the first */
	uint64_t backoff_ms;   /* the first pause; 0: 1 s */
	uint64_t pause_max_ms; /* a Retry-After over it ends the trying; 0: 120 s */
	size_t body_max;       /* 0: FH_HTTP_BODY_MAX */
	/* Says that this answer stays the same however often one asks (a used-up quota answers 429). NULL: none does. */
	bool (*is_final)(int status, struct fh_str body);
	FH_NULLABLE const volatile int *cancel;
};

struct fh_http_response {
	int status;
	unsigned tries;
	char content_type[64]; /* lower case, without parameters; "" when there is none */
	struct fh_buf headers; /* lines "Name: value\n", for fh_headers_find */
	struct fh_buf body;
};
void fh_http_response_release(struct fh_http_response *r);
#define fh_auto_http_response FH_CLEANUP(fh_http_response_release)

/* 0 for any answer, whatever its status. FH_E_UNAVAILABLE: no whole answer came (the message says why, with the
 * host and never with a header); FH_E_LIMIT: it was larger than body_max; FH_E_TIMEOUT; FH_E_CANCELLED; FH_E_CONFIG:
 * not an http URL. */
int fh_http_send(struct fh_http *http, const struct fh_http_request *request, struct fh_http_response *ret,
                 struct fh_error *err);

/* How many requests may be under way now. */
unsigned fh_http_allowed(struct fh_http *http);

/* "Unauthorized" for 401; "" for what it does not know. */
const char *fh_http_reason(int status);
/* The pause before try n + 1 (n from 1), as fh_http_send makes it: backoff * 2^(n-1), at most 60 s, plus up to a half
 * at random (jitter01 in [0, 1)). */
uint64_t fh_http_pause_ms(uint64_t backoff_ms, unsigned n, double jitter01);
/* Whether an answer with this status is worth another try. */
bool fh_http_status_retryable(int status);
