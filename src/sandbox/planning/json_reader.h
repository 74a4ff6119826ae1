/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON that a person wrote into structs: a table says which keys an object has and how each is read; what does
 * not fit is refused with the file, the line and, for a mistyped key, the nearest known one.
 *
 * The reader remembers where it is in the document (keys and indexes); lines are found only when something is wrong,
 * by walking the text along that path.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

enum { FH_JSON_READER_DEPTH_MAX = 16 };

struct fh_json_reader {
	struct fh_str text;           /* what `root` was parsed from */
	FH_NULLABLE const char *name; /* the file, for errors */
	struct fh_error *err;
	unsigned depth;
	struct {
		FH_NULLABLE const char *key; /* NULL: index */
		size_t index;
	} path[FH_JSON_READER_DEPTH_MAX];
};

typedef int fh_json_read_fn(struct fh_json_reader *r, const json_t *value, void *target);

struct fh_json_field {
	const char *key; /* NULL ends the table */
	fh_json_read_fn *read;
	size_t offset; /* of the member in the struct that is filled */
	bool required;
};

/* All of these return 0 or a negative code with the reader's error filled. */
int fh_json_read_object(struct fh_json_reader *r, const json_t *object, const struct fh_json_field *fields,
                        void *target);
/* Calls read for each element of an array. */
int fh_json_read_each(struct fh_json_reader *r, const json_t *array, fh_json_read_fn *read, void *target);
fh_json_read_fn fh_json_read_text;    /* char **: a string without NUL; the old one is freed */
fh_json_read_fn fh_json_read_strings; /* char ***: an array of such, NULL-terminated; the old one is freed */
fh_json_read_fn fh_json_read_bool;    /* bool * */
fh_json_read_fn fh_json_read_u64;     /* uint64_t *: an integer that is not negative */

/* Something is wrong with the value that is being read: FH_E_CONFIG with its line and column. */
int fh_json_reader_fail(struct fh_json_reader *r, const char *format, ...) FH_PRINTF(2, 3);
/* "a string", "null" …: what a value is, for messages. */
const char *fh_json_kind(const json_t *value);
