/* SPDX-License-Identifier: MIT */
/*
 * JSON, over jansson (the only header that includes it: json_t and its json_* calls may be used by those who include
 * this). Reading is bounded and says line and column; writing gives the shortest number that reads back the same,
 * as JavaScript prints it, where jansson 2.14 would print 0.10000000000000001.
 */
#pragma once
#include <jansson.h>
#include "base/buf.h"
#include "base/error.h"

static inline void fh_json_decrefp(json_t **j)
{
	json_decref(*j);
}
#define fh_auto_json FH_CLEANUP(fh_json_decrefp)

#define FH_JSON_DEPTH_MAX 512

/* Any JSON value. Integers that do not fit 64 bits become reals; duplicate keys: the last wins; NUL in strings is
 * allowed. `name` is the file for errors (may be NULL). Returns a new reference, or NULL. */
FH_OWN json_t *fh_json_parse(struct fh_str text, FH_NULLABLE const char *name, struct fh_error *err);
FH_OWN json_t *fh_json_load_file(const char *path, size_t max_bytes, struct fh_error *err);

/* indent 0: one line, no spaces (as JSON.stringify); otherwise that many spaces a level (as JSON.stringify(v, null,
 * n)). Keys stay in insertion order. */
void fh_json_write(struct fh_buf *out, const json_t *value, int indent);
FH_OWN char *fh_json_text(const json_t *value, int indent);
/* A JSON string literal of s; bytes that are not UTF-8 become U+FFFD. */
void fh_json_write_string(struct fh_buf *out, struct fh_str s);
/* A number as JavaScript's String(n) gives it: 0.1, 1e+21, -0 as 0, NaN, Infinity (the latter two only outside JSON).
 */
void fh_json_write_number(struct fh_buf *out, double n);

/* A JSON string of bytes, U+FFFD for what is not UTF-8. New reference. */
FH_OWN json_t *fh_json_bytes(struct fh_str s);

/* Typed look-ups in an object: the value, or the fallback when the key is absent or of another type. */
const char *fh_json_str(const json_t *object, const char *key, FH_NULLABLE const char *fallback);
int64_t fh_json_int(const json_t *object, const char *key, int64_t fallback);
double fh_json_num(const json_t *object, const char *key, double fallback);
bool fh_json_bool(const json_t *object, const char *key, bool fallback);
