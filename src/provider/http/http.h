/* SPDX-License-Identifier: MIT */
/*
 * HTTP requests over libcurl. http and https only; certificates are verified unless a request says otherwise; redirects
 * are not followed, because they would send a POST with a key elsewhere.
 *
 * Requests are retried after temporary failures: connections that fail or break (except one that is refused before any
 * was ever made: the server was not started), and the statuses 408, 429 and 5xx (except 501 and 505). The pause
 * doubles each time, with jitter, or is as long as the server asks (rate_headers.h). The number of concurrent
 * requests adapts to the server's 429s (limiter.h). The size of answers is bounded.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

struct fh_http; /* keeps connections; one for each provider; thread-safe */

#define FH_HTTP_BODY_MAX ((size_t)64 << 20)

/* start_hint: how a server of this kind is started, shown when no server listens at the address; a static string. */
FH_OWN struct fh_http *fh_http_new(const char *start_hint);
void fh_http_free(struct fh_http *http); /* no request may be under way; NULL is fine */

struct fh_http_tls {
	bool insecure;                                  /* do not verify certificates */
	FH_NULLABLE const char *ca, *certificate, *key; /* files (PEM) */
};

struct fh_http_response;

struct fh_http_fetch {
	const char *url;
	FH_NULLABLE const char *const *headers; /* "Name: value", NULL-terminated */
	bool post;
	FH_NULLABLE const char *method; /* NULL: POST or GET, depending on `post` */
	struct fh_str body;             /* body of a POST, or of a method that is neither GET nor HEAD */
	struct fh_http_tls tls;
	/* Called with the body of a 2xx answer as it arrives (the response has all of it too); p is NULL when a try begins.
	 * NULL: not called. */
	void (*on_data)(void *context, struct fh_str data);
	/* Called with a 2xx answer that has no length: true if the answer was cut off; it is then retried. NULL: no answer
	 * counts as cut off. */
	bool (*is_cut)(void *context, const struct fh_http_response *response);
	void *context;
	uint64_t stall_ms;     /* a try ends after so long without a byte; 0: only timeout_ms ends it */
	uint64_t timeout_ms;   /* time limit of one try; 0: 300 s */
	unsigned retries;      /* tries after the first */
	uint64_t backoff_ms;   /* the first pause; 0: 1 s */
	uint64_t pause_max_ms; /* a longer Retry-After ends the retries; 0: 120 s */
	size_t body_max;       /* maximum bytes of an answer; 0: FH_HTTP_BODY_MAX */
	/* Called with an answer that would be retried: true if retries would get the same answer (a used-up quota answers
	 * 429). NULL: every such answer is retried. */
	bool (*is_final)(int status, struct fh_str body);
	FH_NULLABLE const volatile int *cancel;
};

struct fh_http_response {
	int status;
	unsigned tries;
	char content_type[64]; /* lower case, without parameters; "" when missing */
	struct fh_buf headers; /* lines "Name: value\n", which fh_headers_find searches */
	struct fh_buf body;
};
void fh_http_response_release(struct fh_http_response *r);
#define fh_auto_http_response FH_CLEANUP(fh_http_response_release)

/* Returns 0 for any answer, whatever its status. FH_E_UNAVAILABLE: no complete answer came (the message says why; it
 * names the host and contains no header); FH_E_LIMIT: the answer was larger than body_max; FH_E_TIMEOUT;
 * FH_E_CANCELLED; FH_E_CONFIG: not an http URL. */
int fh_http_send(struct fh_http *http, const struct fh_http_fetch *request, struct fh_http_response *ret,
                 struct fh_error *err);

/* The reason phrase of a status: "Unauthorized" for 401; "" for an unknown one. */
const char *fh_http_reason(int status);
/* The pause before try n + 1 (n from 1), as fh_http_send computes it: backoff * 2^(n-1), at most 60 s, plus up to a
 * half of that at random (jitter01 in [0, 1)). */
uint64_t fh_http_pause_ms(uint64_t backoff_ms, unsigned n, double jitter01);
/* Whether an answer with this status is retried. */
bool fh_http_status_retryable(int status);
