/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON written by people into structs. A table lists the keys of an object and how each is read. Errors name the
 * file, the line and, for a mistyped key, the nearest known key.
 *
 * The reader tracks its position in the document as a path of keys and indexes. Lines are only determined for an error,
 * by following that path through the text.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

enum { FH_JSON_READER_DEPTH_MAX = 16 };

struct fh_json_reader {
	struct fh_str text;           /* the text of the document */
	FH_NULLABLE const char *name; /* the file's name for errors */
	struct fh_error *err;
	unsigned depth;
	struct {
		FH_NULLABLE const char *key; /* NULL: `index` counts */
		size_t index;
	} path[FH_JSON_READER_DEPTH_MAX];
};

typedef int fh_json_read_fn(struct fh_json_reader *r, const json_t *value, void *target);

struct fh_json_field {
	const char *key; /* NULL ends the table */
	fh_json_read_fn *read;
	size_t offset; /* offset of the member in the struct that is filled */
	bool required;
};

/* All of these return 0, or a negative code with the reader's error set. */
int fh_json_read_object(struct fh_json_reader *r, const json_t *object, const struct fh_json_field *fields,
                        void *target);
/* Calls read for each element of an array. */
int fh_json_read_each(struct fh_json_reader *r, const json_t *array, fh_json_read_fn *read, void *target);
fh_json_read_fn fh_json_read_text; /* char **: a string without NUL; the previous value is freed */
/* char ***: an array of such strings, NULL-terminated; the previous value is freed */
fh_json_read_fn fh_json_read_strings;
fh_json_read_fn fh_json_read_bool; /* bool * */
fh_json_read_fn fh_json_read_u64;  /* uint64_t *: a non-negative integer */

/* Reports an error in the value that is being read: FH_E_CONFIG with its line and column. */
int fh_json_reader_fail(struct fh_json_reader *r, const char *format, ...) FH_PRINTF(2, 3);
/* What a value is, for messages: "a string", "null" … */
const char *fh_json_kind(const json_t *value);
