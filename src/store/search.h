/* SPDX-License-Identifier: MIT */
/*
 * Searches a row of the store for text. Searched are the values that a user sees in the row: all strings of its JSON,
 * unescaped, one after another; names of members are skipped.
 */
#pragma once
#include "base/error.h"

/* Whether a text of the row contains the words; ASCII case is ignored. */
bool fh_search_has(struct fh_str row, struct fh_str words);

/* The last compiled regular expression; each connection has one. */
struct fh_search_cache;
/* Whether a text of the row matches the regular expression (PCRE2, UTF, with bounded effort). One that does not compile
 * never matches: use fh_search_check before. */
bool fh_search_matches(struct fh_search_cache **cache, struct fh_str row, struct fh_str pattern);
void fh_search_cache_free(FH_NULLABLE struct fh_search_cache *cache);

/* Whether the regular expression compiles; else FH_E_ARGUMENT with the problem and its position. */
int fh_search_check(const char *pattern, struct fh_error *err);
