/* SPDX-License-Identifier: MIT */
/* A call that uses the cache of responses: the provider's type says what the answer depends on, and stores a new
 * answer. */
#pragma once
#include "provider/cache.h"
#include "provider/type.h"

struct fh_cached_call {
	struct fh_response_cache *cache; /* the cache; NULL: begin was not called, or the call is over */
	char key[FH_CACHE_KEY];
	bool hit; /* the response came from the cache; no request is needed */
};

/* `about`: everything that the answer depends on; the provider's id, the operation and the repeat are added to it. Does
 * nothing when the provider has no cache. FH_E_CANCELLED. */
int fh_cached_call_begin(struct fh_cached_call *c, const struct fh_provider *p,
                         const struct fh_provider_request *request, const json_t *about,
                         struct fh_provider_response *ret, struct fh_error *err);
/* Stores the response, unless it is an error. */
void fh_cached_call_store(struct fh_cached_call *c, const struct fh_provider_response *response);
/* Lets threads that wait for this answer continue; does nothing after a store or a hit. */
void fh_cached_call_end(struct fh_cached_call *c);
