/* SPDX-License-Identifier: MIT */
/*
 * Forms in which the results of an eval are written: one kind for each extension, each in a file of its own in this
 * folder, listed in table.c. They read neutral data, so that a new eval and a stored one are written by the same
 * code; rows are read one by one, so that no form holds all of them in memory.
 *
 * A destination is checked when it is opened, before the eval calls any provider: its folder is made; an existing file
 * that holds something other than results is refused, and so is a file that another eval is about to write.
 */
#pragma once
#include "base/fd.h"
#include "json/json.h"

/* Called with one row in promptfoo's form, as JSON on one line; rows come in the order of rows and columns. */
typedef int fh_output_row_fn(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err);

struct fh_output_data {
	const char *id; /* id of the eval */
	int64_t started_wall_ms;
	uint64_t duration_ms;
	uint64_t successes, failures, errors;
	const json_t *config;  /* redacted; includes description and outputPath */
	const json_t *columns; /* array of {raw, id, label, provider, config?, metrics} */
	const json_t *vars;    /* array: names of the variables */
	const json_t *tokens;  /* tokenUsage of the whole eval */
	const json_t *options; /* runtimeOptions */
	/* Calls `row` for each finished cell; stops at its first negative code and returns it. */
	int (*each)(void *context, fh_output_row_fn *row, void *row_context, struct fh_error *err);
	void *context;
};

/* Where a kind writes: it fills `text`, which fh_output_flush writes to the file now and then. */
struct fh_output_stream {
	struct fh_buf text;
	int fd;
	int failed; /* errno of a failed write; 0: no failure */
};
/* Kinds call it between rows. */
void fh_output_flush(struct fh_output_stream *s);

struct fh_output_kind {
	const char *extension; /* ".json"; when several match a path, the longest wins */
	int (*write)(const struct fh_output_data *data, struct fh_output_stream *out, struct fh_error *err);
	bool appends; /* each row is a line, appended to the file as soon as the row is finished */
	/* Text near the beginning of every file of this kind; NULL: files of this kind cannot be recognized. */
	const char *sign;
};

/* Finds the kind for a path; the error for an unknown extension lists the known ones. */
int fh_output_for(const char *path, const struct fh_output_kind **ret, struct fh_error *err);
/* Every extension, for messages and help: ".json, .jsonl, …". free() it. */
FH_OWN char *fh_output_extensions(void);
/* The kind with an extension, given without the dot ("json" for ".json"). NULL: unknown. */
const struct fh_output_kind *fh_output_named(const char *name);
/* Writes all results to an open descriptor. */
int fh_output_print(const struct fh_output_kind *kind, const struct fh_output_data *data, int fd, struct fh_error *err);

/* ---- the output files of one eval: open ─▶ row … ─▶ end ---- */

struct fh_output_files;
/* Opens and checks every path (NULL-terminated). */
int fh_output_files_open(const char *const *paths, struct fh_output_files **ret, struct fh_error *err);
/* Appends a finished row to the files whose kind takes rows one by one. Not thread-safe. */
int fh_output_files_row(struct fh_output_files *f, struct fh_str text, struct fh_error *err);
/* Writes every file anew; a regular file is replaced completely or left unchanged. */
int fh_output_files_end(struct fh_output_files *f, const struct fh_output_data *data, struct fh_error *err);
/* Closes the files. When end was not called, files that open created and nothing was written to are removed. NULL is
 * fine. */
void fh_output_files_close(FH_NULLABLE struct fh_output_files *f);

/* ---- functions that kinds share ---- */

/* "PASS", "FAIL" or "ERROR". */
const char *fh_output_status(const json_t *row);
/* "[provider] label" of a column. free() it. */
FH_OWN char *fh_output_column_name(const struct fh_output_data *d, uint32_t column);
/* The answer as text, "" when the row has no answer. free() it. */
FH_OWN char *fh_output_answer(const json_t *row);
/* The error, or else the grade's reason. Borrowed from the row; never NULL. */
const char *fh_output_reason(const json_t *row);
FH_OWN char *fh_output_text(FH_NULLABLE const json_t *value);
/* What made the file, where and when: `metadata` of the files that hold the whole eval. New reference. */
FH_OWN json_t *fh_output_about(const struct fh_output_data *d);

/* A copy without secrets: without values of keys such as apiKey or password, and without strings that equal the value
 * of an environment variable with such a name. */
FH_OWN json_t *fh_output_redact(const json_t *value);

extern const struct fh_output_kind fh_output_json, fh_output_jsonl, fh_output_csv, fh_output_yaml, fh_output_yml,
    fh_output_txt, fh_output_html, fh_output_xml, fh_output_junit, fh_output_markdown, fh_output_openmetrics;
