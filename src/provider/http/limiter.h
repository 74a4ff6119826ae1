/* SPDX-License-Identifier: MIT */
/*
 * How many concurrent requests a provider makes, learned from its server: a 429 halves the allowed number (once for all
 * requests that were running at that time), each answer raises it a little (additive increase, multiplicative
 * decrease), less where the last 429 came, as each costs the pause that the server asks for, and no request begins
 * before the time that the server named. Thread-safe.
 */
#pragma once
#include "base/error.h"

struct fh_limiter {
	void *state;
};

void fh_limiter_init(struct fh_limiter *l);
void fh_limiter_release(struct fh_limiter *l); /* no request may be running */

/* Waits until one more request is allowed; pass *ret_begun to fh_limiter_leave. FH_E_CANCELLED. */
int fh_limiter_enter(struct fh_limiter *l, FH_NULLABLE const volatile int *cancel, int64_t *ret_begun,
                     struct fh_error *err);
/* Ends a request. limited: the server answered 429. */
void fh_limiter_leave(struct fh_limiter *l, int64_t begun, bool limited);
/* No request begins within the next ms milliseconds. */
void fh_limiter_hold(struct fh_limiter *l, uint64_t ms);
/* How many concurrent requests are allowed now; for tests. */
unsigned fh_limiter_allowed(struct fh_limiter *l);
