/* SPDX-License-Identifier: MIT */
/* Text as JavaScript sees it, for the assertions and templates that come from there. */
#pragma once
#include "json/json.h"

/* Lower case, Unicode's simple mapping; s is UTF-8 (bytes that are not stay as they are). free() it. */
FH_OWN char *fh_text_lower(struct fh_str s);
/* A string as it is, a number as String(n), anything else as one line of JSON. free() it. */
FH_OWN char *fh_text_of_json(const json_t *value);
/* s without white space at both ends, as trim() does for ASCII and U+00A0, U+FEFF, U+2028, U+2029; a slice of s. */
struct fh_str fh_text_trim(struct fh_str s);
/* A path of the form file://NAME[:FUNCTION]: *ret_path (joined to dir) and *ret_function (NULL: none), both free().
 * The function is what follows the first ':' of NAME. */
void fh_text_split_file(const char *text, const char *dir, char **ret_path, char **ret_function);
static inline bool fh_text_is_file(const char *text)
{
	return text && fh_starts_with(text, "file://");
}
/* The fields of 'a, "b,c", d': split at commas outside of quotes; fields without quotes are trimmed, empty ones
 * dropped. Inside of quotes \" and "" stand for a quote and \\ for a backslash. *ret is a list of strings.
 * FH_E_ARGUMENT for a quote that is not closed, or text behind one. */
int fh_text_split_list(const char *text, json_t **ret, struct fh_error *err);
