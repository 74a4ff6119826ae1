/* SPDX-License-Identifier: MIT */
/*
 * Data-set formats. Each has a file of its own and a row in fh_judge_formats (format.c). A line belongs to the first
 * format that recognises its fields.
 */
#pragma once
#include "json/json.h"
#include "judge/problems/problem.h"

struct fh_judge_format {
	const char *name;
	const char *fields;    /* the fields that identify it, for the error about a line of no known format */
	bool takes_not_finite; /* rows may hold NaN and Infinity, which only the row's JSON text preserves */
	bool (*recognises)(const json_t *row);
	/* Fills the fields of *p other than task_id, which is set already. `text` is the JSON from which the row was
	 * parsed. On failure, sets the message and hint of `err`; the caller sets position and code. */
	int (*read)(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err);
};

extern const struct fh_judge_format fh_judge_human_eval;
extern const struct fh_judge_format fh_judge_pack;
extern const struct fh_judge_format fh_judge_evalplus;
extern const struct fh_judge_format fh_judge_mbpp;
extern const struct fh_judge_format fh_judge_generic;

/* NULL-terminated. */
extern const struct fh_judge_format *const fh_judge_formats[];

/* The string with that key; false if it is missing or not a string. */
bool fh_judge_field(const json_t *row, const char *key, struct fh_str *ret);
/* Appends s, and a newline if s does not end with one; nothing for an empty s. */
void fh_judge_add_lines(struct fh_buf *out, struct fh_str s);
/* Makes a problem of a generic row that is not from a file. Errors are as those of `read`. */
int fh_judge_problem_of_row(const json_t *row, struct fh_judge_problem *ret, struct fh_error *err);
/* Of a test in Python that only defines its cases, appends to *ret_call the call that runs them
 * (guest/python/run_cases.py); nothing of any other. Returns where the call belongs: in front of a last
 * `if __name__ == …`, which may exit, or at the end. */
size_t fh_judge_python_cases(struct fh_str test, struct fh_buf *ret_call);
