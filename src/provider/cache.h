/* SPDX-License-Identifier: MIT */
/*
 * Answers that were given before, on disk: one file for each key (a SHA-256 of all that an answer depends on), made
 * whole or not at all, and good for a time (its TTL). Several programs may share a folder. Within this process, of
 * identical requests under way only one is asked: the others wait for its answer.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_response_cache;

/* dir: NULL: $PROMPTFOO_CACHE_PATH, else $XDG_CACHE_HOME/fumehood/responses, else ~/.cache/fumehood/responses.
 * ttl_s 0: $PROMPTFOO_CACHE_TTL (seconds), else 14 days. Makes nothing before something is stored. */
FH_OWN struct fh_response_cache *fh_response_cache_new(FH_NULLABLE const char *dir, uint64_t ttl_s);
void fh_response_cache_free(struct fh_response_cache *cache); /* NULL is fine */
const char *fh_response_cache_dir(const struct fh_response_cache *cache);

#define FH_CACHE_KEY 65 /* hexadecimal, and a NUL */
/* The key of a JSON value (its members in any order). */
void fh_response_cache_key(const json_t *about, char ret[FH_CACHE_KEY]);

/* The answer, when there is one (new reference). Otherwise *ret is NULL and the caller is the one who asks: it calls
 * fh_response_cache_end, whatever comes of it. FH_E_CANCELLED. */
int fh_response_cache_begin(struct fh_response_cache *cache, const char *key, FH_NULLABLE const volatile int *cancel,
                            json_t **ret, struct fh_error *err);
/* answer NULL: there is none worth keeping; one of those who wait asks next. A disk that is full keeps nothing. */
void fh_response_cache_end(struct fh_response_cache *cache, const char *key, FH_NULLABLE const json_t *answer);

/* Removes all answers; *ret_count of them. */
int fh_response_cache_clear(struct fh_response_cache *cache, size_t *ret_count, struct fh_error *err);
