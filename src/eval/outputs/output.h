/* SPDX-License-Identifier: MIT */
/*
 * Forms in which the results of an eval are written: one kind for each extension, each in a file of its own here,
 * listed in table.c. They read neutral data, so that an eval that has just run and one of the store are written by the
 * same code; rows are read one by one, so that no form needs the memory of all.
 *
 * A destination is tried when it is opened, before anything is asked for: its folder is made, a file that is there and
 * holds something else than results is refused, and so is one that another eval is about to write.
 */
#pragma once
#include "base/fd.h"
#include "json/json.h"

/* One row in promptfoo's form, in the order of rows and columns; `text` is its JSON on one line. */
typedef int fh_output_row_fn(void *context, uint32_t row, uint32_t column, struct fh_str text, struct fh_error *err);

struct fh_output_data {
	const char *id; /* of the eval */
	int64_t started_wall_ms;
	uint64_t duration_ms;
	uint64_t successes, failures, errors;
	const json_t *config;  /* redacted; with description and outputPath */
	const json_t *columns; /* array of {raw, id, label, provider, config?, metrics} */
	const json_t *vars;    /* array: names of the variables */
	const json_t *tokens;  /* tokenUsage of all */
	const json_t *options; /* runtimeOptions */
	/* Calls `row` for each cell that is done; ends early with its negative code. */
	int (*each)(void *context, fh_output_row_fn *row, void *row_context, struct fh_error *err);
	void *context;
};

/* Where a kind writes to: `text` is filled, and emptied into the file now and then. */
struct fh_output_stream {
	struct fh_buf text;
	int fd;
	int failed; /* errno; 0: none */
};
/* To be called between rows. */
void fh_output_flush(struct fh_output_stream *s);

struct fh_output {
	const char *extension; /* ".json"; the longest that a path ends with decides */
	int (*write)(const struct fh_output_data *data, struct fh_output_stream *out, struct fh_error *err);
	bool appends; /* a row is a line of its own: it is in the file as soon as it is done */
	/* What a file of this kind has near its beginning; NULL: cannot be told. */
	const char *sign;
};

/* The kind for a path; an unknown extension is an error that names the known ones. */
int fh_output_for(const char *path, const struct fh_output **ret, struct fh_error *err);
/* Every extension, for messages and help: ".json, .jsonl, …". free() it. */
FH_OWN char *fh_output_extensions(void);
/* Without an extension: "json" for ".json". NULL: there is none. */
const struct fh_output *fh_output_named(const char *name);
/* All of it to an open descriptor. */
int fh_output_print(const struct fh_output *kind, const struct fh_output_data *data, int fd, struct fh_error *err);

/* ---- the files of one eval: open ─▶ row … ─▶ end ---- */

struct fh_output_files;
/* Tries every path (NULL-terminated). */
int fh_output_files_open(const char *const *paths, struct fh_output_files **ret, struct fh_error *err);
/* A row is done: appended where the kind takes rows one by one. One call at a time. */
int fh_output_files_row(struct fh_output_files *f, struct fh_str text, struct fh_error *err);
/* Writes every file whole, or leaves it as it is. */
int fh_output_files_end(struct fh_output_files *f, const struct fh_output_data *data, struct fh_error *err);
/* Without end: files that were made by open and never written are removed. NULL is fine. */
void fh_output_files_close(FH_NULLABLE struct fh_output_files *f);

/* ---- pieces that kinds share ---- */

/* "PASS", "FAIL" or "ERROR". */
const char *fh_output_status(const json_t *row);
/* "[provider] label" of a column. free() it. */
FH_OWN char *fh_output_column_name(const struct fh_output_data *d, uint32_t column);
/* The answer as text, "" when there is none. free() it. */
FH_OWN char *fh_output_answer(const json_t *row);
/* Why it did not pass, or the grade's reason. Borrowed from the row; never NULL. */
const char *fh_output_reason(const json_t *row);
FH_OWN char *fh_output_text(FH_NULLABLE const json_t *value);

/* A copy without secrets: values of keys such as apiKey or password, and strings that are the value of an environment
 * variable with such a name. */
FH_OWN json_t *fh_output_redact(const json_t *value);

extern const struct fh_output fh_output_json, fh_output_jsonl, fh_output_csv, fh_output_yaml, fh_output_yml,
    fh_output_txt, fh_output_html, fh_output_xml, fh_output_junit, fh_output_markdown, fh_output_openmetrics;
