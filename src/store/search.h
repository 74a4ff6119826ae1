/* SPDX-License-Identifier: MIT */
/*
 * Looking for text in a row of the store. What is searched are the values that a person sees in the row: every text of
 * its JSON, as text (unescaped), one after the other; the names of members are not searched.
 */
#pragma once
#include "base/error.h"

/* Whether a text of the row holds the words, upper and lower case of ASCII being the same. */
bool fh_search_has(struct fh_str row, struct fh_str words);

/* The last regular expression, compiled; it belongs to a connection. */
struct fh_search_cache;
/* Whether the regular expression (PCRE2, UTF, matching is bounded) is found in a text of the row. One that cannot be
 * compiled is found nowhere: fh_search_check tells beforehand. */
bool fh_search_matches(struct fh_search_cache **cache, struct fh_str row, struct fh_str pattern);
void fh_search_cache_free(FH_NULLABLE struct fh_search_cache *cache);

/* Whether the regular expression can be compiled; else FH_E_ARGUMENT with what is wrong and where. */
int fh_search_check(const char *pattern, struct fh_error *err);
