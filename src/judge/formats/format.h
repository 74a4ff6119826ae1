/* SPDX-License-Identifier: MIT */
/*
 * Data-set formats. Each has a file of its own and one row in fh_judge_formats (format.c); a line belongs to the
 * first format that recognises its fields.
 */
#pragma once
#include "json/json.h"
#include "judge/formats/problem.h"

struct fh_judge_format {
	const char *name;
	const char *fields;    /* that make it out, for the error about a line that no format knows */
	bool takes_not_finite; /* NaN and Infinity, which only `text` has */
	bool (*recognises)(const json_t *row);
	/* Fills what *p holds beside task_id, which is there already. `text` is the JSON that the row was read from. On
	 * failure says what is wrong with the line in `err`'s message and hint (place and code are the caller's). */
	int (*read)(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err);
};

extern const struct fh_judge_format fh_judge_human_eval;
extern const struct fh_judge_format fh_judge_pack;
extern const struct fh_judge_format fh_judge_evalplus;
extern const struct fh_judge_format fh_judge_mbpp;
extern const struct fh_judge_format fh_judge_generic;

/* NULL-terminated. */
extern const struct fh_judge_format *const fh_judge_formats[];

/* The string `key` of row; false when it is absent or no string. */
bool fh_judge_field(const json_t *row, const char *key, struct fh_str *ret);
/* Appends s and, where it ends without one, a newline; nothing for an empty s. */
void fh_judge_add_lines(struct fh_buf *out, struct fh_str s);
/* A problem of one generic row that is in no file. Errors have the message and hint of `read`. */
int fh_judge_problem_of_row(const json_t *row, struct fh_judge_problem *ret, struct fh_error *err);
/* Says what is wrong with a row, and the mend; -FH_E_CONFIG. */
int fh_judge_wrong(struct fh_error *err, const char *hint, const char *format, ...) FH_PRINTF(3, 4);
/* A name of a function goes into program texts: letters, digits, _ and bytes above 127, nothing else. */
bool fh_judge_is_name(struct fh_str s);
