/* SPDX-License-Identifier: MIT */
/* One call through the cache of responses: a provider's type says what its answer depends on, and stores what came. */
#pragma once
#include "provider/cache.h"
#include "provider/type.h"

struct fh_cached_call {
	struct fh_response_cache *cache; /* NULL: not begun, or over */
	char key[FH_CACHE_KEY];
	bool hit; /* the response is filled; nothing is to be asked */
};

/* `about`: all that the answer depends on; the provider's id, the operation and the repeat are added. Without a cache
 * it does nothing. FH_E_CANCELLED. */
int fh_cached_call_begin(struct fh_cached_call *c, const struct fh_provider *p,
                         const struct fh_provider_request *request, const json_t *about,
                         struct fh_provider_response *ret, struct fh_error *err);
/* Keeps the response, unless it is an error. */
void fh_cached_call_store(struct fh_cached_call *c, const struct fh_provider_response *response);
/* Lets those who wait go on; nothing after a store or a hit. */
void fh_cached_call_end(struct fh_cached_call *c);
