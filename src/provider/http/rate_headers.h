/* SPDX-License-Identifier: MIT */
/* Reads from a server's headers when the next request may be sent. */
#pragma once
#include "base/base.h"

/* A header's value, from lines "name: value\n" with lower-case names; p is NULL when it is missing. */
struct fh_str fh_headers_find(struct fh_str headers, const char *name);

/* How long to wait, in ms: from Retry-After and retry-after-ms, else, when a counter of the rate limit is 0, from its
 * reset time (x-ratelimit-*, anthropic-ratelimit-*, ratelimit-*); 0: the headers do not say. `now`: seconds since
 * 1970. */
uint64_t fh_rate_pause_ms(struct fh_str headers, int64_t now);
