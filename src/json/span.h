/* SPDX-License-Identifier: MIT */
/*
 * The text of a value inside of JSON text, unparsed: for what parsing loses (integers beyond 64 bits, 1 beside 1.0).
 * The text has been parsed before (json.h): nothing here says what is wrong with it, and wrong text gives wrong spans,
 * never ones outside of it.
 */
#pragma once
#include "base/base.h"

/* The value that text begins with (blanks in front are left out): up to a comma or bracket outside of its own. */
struct fh_str fh_json_span(struct fh_str text);
/* The value of the object's own member `key`, the last one of that name; false when there is none. */
bool fh_json_span_member(struct fh_str object, const char *key, struct fh_str *ret);
/* What stands between the brackets of an array, to take items off. */
struct fh_str fh_json_span_items(struct fh_str array);
/* Takes the next item off; false at the end. */
bool fh_json_span_item(struct fh_str *items, struct fh_str *ret);
