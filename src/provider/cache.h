/* SPDX-License-Identifier: MIT */
/*
 * A cache of answers on disk: one file for each key (a SHA-256 of everything that an answer depends on), written
 * atomically, and valid for a time (its TTL). Several programs may share a folder. Within a process, identical
 * requests are made once: the other callers wait for the answer.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_response_cache;

/* dir: NULL: $PROMPTFOO_CACHE_PATH, else $XDG_CACHE_HOME/fumehood/responses, else ~/.cache/fumehood/responses. ttl_s 0:
 * $PROMPTFOO_CACHE_TTL (seconds), else 14 days. The folder is made when the first answer is stored. */
FH_OWN struct fh_response_cache *fh_response_cache_new(FH_NULLABLE const char *dir, uint64_t ttl_s);
void fh_response_cache_free(struct fh_response_cache *cache); /* NULL is fine */
const char *fh_response_cache_dir(const struct fh_response_cache *cache);

#define FH_CACHE_KEY 65 /* hexadecimal digits and a NUL */
/* The key of a JSON value; the order of members does not matter. */
void fh_response_cache_key(const json_t *about, char ret[FH_CACHE_KEY]);

/* Looks an answer up; *ret is a new reference, or NULL when there is none: then the caller makes the request and has to
 * call fh_response_cache_end, whatever its outcome. Waits while another thread makes the same request.
 * FH_E_CANCELLED. */
int fh_response_cache_begin(struct fh_response_cache *cache, const char *key, FH_NULLABLE const volatile int *cancel,
                            json_t **ret, struct fh_error *err);
/* Stores the answer and wakes waiting threads. answer NULL: nothing is stored, and one of the waiting threads makes the
 * request. When the disk is full, nothing is stored. */
void fh_response_cache_end(struct fh_response_cache *cache, const char *key, FH_NULLABLE const json_t *answer);

/* Removes all answers; *ret_count is their number. */
int fh_response_cache_clear(struct fh_response_cache *cache, size_t *ret_count, struct fh_error *err);
