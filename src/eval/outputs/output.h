/* SPDX-License-Identifier: MIT */
/*
 * Files that an eval can write its results to: one kind per extension, each in a file of its own here, listed in
 * table.c.
 */
#pragma once
#include "eval/results.h"

struct fh_output_data {
	const struct fh_eval_plan *plan;
	const struct fh_eval_results *results;
	FH_NULLABLE const char *description; /* of the command line, over the config's */
	const char *const *paths;            /* all output files, NULL-terminated; for the results' own record of them */
};

struct fh_output {
	const char *extension; /* ".json"; the longest that a path ends with decides */
	int (*write)(const struct fh_output_data *data, struct fh_buf *out, struct fh_error *err);
};

/* The kind for a path; an unknown extension is an error that names the known ones. */
int fh_output_for(const char *path, const struct fh_output **ret, struct fh_error *err);
/* Writes the file whole, or not at all; folders on the way are made. */
int fh_output_write(const struct fh_output_data *data, const char *path, struct fh_error *err);

/* The row of result i in promptfoo's form, as one line of JSON (no line end). */
void fh_output_row(const struct fh_output_data *data, size_t i, struct fh_buf *out);
/* A copy without secrets: values of keys such as apiKey or password, and strings that are the value of an environment
 * variable with such a name. */
FH_OWN json_t *fh_output_redact(const json_t *value);

extern const struct fh_output fh_output_json;
extern const struct fh_output fh_output_jsonl;
extern const struct fh_output fh_output_csv;
