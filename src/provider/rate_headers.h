/* SPDX-License-Identifier: MIT */
/* What a server says about when to ask again. */
#pragma once
#include "base/base.h"

/* A header's value among lines "name: value\n" with lower-case names; NULL in p when there is none. */
struct fh_str fh_headers_find(struct fh_str headers, const char *name);

/* How long to wait, in ms, by Retry-After and retry-after-ms, else, when a counter of the rate limit is at 0, by its
 * reset time (x-ratelimit-*, anthropic-ratelimit-*, ratelimit-*); 0: nothing is said. `now`: seconds since 1970. */
uint64_t fh_rate_pause_ms(struct fh_str headers, int64_t now);
/* "1m30.5s", "20ms", "30" (seconds), "2026-01-02T03:04:05Z" or seconds since 1970 as ms from now; 0: none of them. */
uint64_t fh_rate_duration_ms(struct fh_str text, int64_t now);
