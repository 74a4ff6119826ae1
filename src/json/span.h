/* SPDX-License-Identifier: MIT */
/*
 * Slices of JSON text that hold single values, unparsed: for what parsing loses (integers beyond 64 bits, the
 * difference between 1 and 1.0). The text has to be valid, that is parsed before (json.h): errors are not reported,
 * and invalid text gives wrong slices, though never ones outside of it.
 */
#pragma once
#include "base/base.h"

/* The value at the beginning of text, without leading blanks: up to a comma or bracket that is not its own. */
struct fh_str fh_json_span(struct fh_str text);
/* The value of the object's member `key` (the last one of that name); false when it has none. Members of nested objects
 * do not count. */
bool fh_json_span_member(struct fh_str object, const char *key, struct fh_str *ret);
/* The text between the brackets of an array, for fh_json_span_item. */
struct fh_str fh_json_span_items(struct fh_str array);
/* Removes the next item from *items; false at the end. */
bool fh_json_span_item(struct fh_str *items, struct fh_str *ret);
