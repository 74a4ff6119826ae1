/* SPDX-License-Identifier: MIT */
/*
 * How many requests one provider has under way, learned from its server: a 429 halves what is allowed (once for all
 * requests that were under way together), each answer adds a little (additive increase, multiplicative decrease), and
 * nobody asks before the moment that the server named. Safe from any thread.
 */
#pragma once
#include "base/error.h"

struct fh_limiter {
	void *state;
};

void fh_limiter_init(struct fh_limiter *l);
void fh_limiter_release(struct fh_limiter *l); /* no request may be under way */

/* Waits until one more request may begin; *ret_begun is for fh_limiter_leave. FH_E_CANCELLED. */
int fh_limiter_enter(struct fh_limiter *l, FH_NULLABLE const volatile int *cancel, int64_t *ret_begun,
                     struct fh_error *err);
/* The request is over. limited: the server answered 429. */
void fh_limiter_leave(struct fh_limiter *l, int64_t begun, bool limited);
/* Nobody is to begin for so long from now on. */
void fh_limiter_hold(struct fh_limiter *l, uint64_t ms);
/* How many may be under way now. */
unsigned fh_limiter_allowed(struct fh_limiter *l);
