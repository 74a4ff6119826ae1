/* SPDX-License-Identifier: MIT */
/*
 * JSON, over jansson. This is the only header that includes jansson's; whoever includes this one may use json_t and the
 * json_* functions. Reading is bounded, and errors have line and column. Numbers are written in the shortest form
 * that reads back the same, as JavaScript does; jansson 2.14 would print 0.10000000000000001.
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

/* Parses any JSON value. Integers that do not fit 64 bits become reals; of duplicate keys the last wins; strings may
 * contain NUL. `name` is the file in errors (may be NULL). Returns a new reference, or NULL. */
FH_OWN json_t *fh_json_parse(struct fh_str text, FH_NULLABLE const char *name, struct fh_error *err);
FH_OWN json_t *fh_json_load_file(const char *path, size_t max_bytes, struct fh_error *err);

/* indent 0: one line, no spaces (as JSON.stringify); otherwise that many spaces a level (as JSON.stringify(v, null,
 * n)). Keys stay in insertion order. */
void fh_json_write(struct fh_buf *out, const json_t *value, int indent);
/* On one line, with 1.0 as 1.0 and not as 1: for readers to whom an integer and a real are two types. */
void fh_json_write_typed(struct fh_buf *out, const json_t *value);
FH_OWN char *fh_json_text(const json_t *value, int indent);
/* Writes s as a JSON string; bytes that are not UTF-8 become U+FFFD. */
void fh_json_write_string(struct fh_buf *out, struct fh_str s);
/* Writes a number as JavaScript's String(n): 0.1, 1e+21, -0 as 0, NaN, Infinity (the latter two are not JSON). */
void fh_json_write_number(struct fh_buf *out, double n);

/* A JSON string from bytes; those that are not UTF-8 become U+FFFD. New reference. */
FH_OWN json_t *fh_json_bytes(struct fh_str s);

/* Typed look-ups in an object: the value, or the fallback when the key is missing or its value has another type. */
const char *fh_json_str(const json_t *object, const char *key, FH_NULLABLE const char *fallback);
int64_t fh_json_int(const json_t *object, const char *key, int64_t fallback);
double fh_json_num(const json_t *object, const char *key, double fallback);
bool fh_json_bool(const json_t *object, const char *key, bool fallback);
