/* SPDX-License-Identifier: MIT */
/*
 * A report on one eval, judgement or run, for other readers: what was asked and how, the results with intervals, and
 * the failures. It is one self-contained file that runs and loads nothing.
 *
 * report.c decides the content once; each form (struct fh_report_form) writes it from a file of its own. Texts of
 * models, programs and data sets reach a form unescaped; its functions escape them, first as for a terminal, so that
 * control characters and reordering characters become visible, then for the form's own markup.
 */
#pragma once
#include "store/rows.h"

struct fh_report_form {
	const char *extension, *type; /* file name extension, such as ".html"; media type */
	void (*begin)(struct fh_buf *out, struct fh_str title);
	void (*heading)(struct fh_buf *out, int level, struct fh_str text);
	void (*paragraph)(struct fh_buf *out, struct fh_str text);
	/* A table: begin it with the names of its columns, add rows of `count` cells, end it. */
	void (*table)(struct fh_buf *out, const char *const *names, size_t count);
	void (*row)(struct fh_buf *out, const struct fh_str *cells, size_t count);
	void (*table_end)(struct fh_buf *out);
	/* Preformatted text with a label. */
	void (*block)(struct fh_buf *out, const char *label, struct fh_str text);
	void (*end)(struct fh_buf *out);
};
extern const struct fh_report_form fh_report_html, fh_report_markdown;

/* The form for a file's extension, or for a name without a dot ("html", "md"). FH_E_ARGUMENT lists the known ones. */
int fh_report_form_for(const char *path, const struct fh_report_form **ret, struct fh_error *err);

/* What is reported on; everything is borrowed. */
struct fh_report_source {
	const struct fh_store_eval *eval;
	const struct fh_store_documents *documents;
	/* Calls `take` with every cell and its data, ordered by row and column, as fh_store_each_cell does. */
	int (*each)(void *context, int (*take)(void *take_context, const struct fh_store_cell *cell, struct fh_error *err),
	            void *take_context, struct fh_error *err);
	void *context;
};

#define FH_REPORT_FAILURES 100 /* how many failures are described unless the user says another number */

/* failures_max: how many failures are described; the others are only counted. */
int fh_report_write(const struct fh_report_source *source, const struct fh_report_form *form, uint64_t failures_max,
                    struct fh_buf *out, struct fh_error *err);
/* The same for what the store has. */
int fh_report_write_stored(struct fh_store *s, const struct fh_store_eval *eval, const struct fh_report_form *form,
                           uint64_t failures_max, struct fh_buf *out, struct fh_error *err);
