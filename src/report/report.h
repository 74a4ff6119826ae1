/* SPDX-License-Identifier: MIT */
/*
 * A report on one eval of the store, for others to read: what was asked and how, what came of it with intervals, and
 * the failures. One self-contained file; nothing in it is run or fetched.
 *
 * What stands in it is decided once (report.c) and written in one of several forms (struct fh_report_form), each in a
 * file of its own. Texts of models, programs and data sets reach a form as they are; its functions escape them, first
 * as for a terminal, so that control characters and what reorders text are seen, then for the form's own markup.
 */
#pragma once
#include "store/rows.h"

struct fh_report_form {
	const char *extension, *type; /* ".html"; the media type */
	void (*begin)(struct fh_buf *out, struct fh_str title);
	void (*heading)(struct fh_buf *out, int level, struct fh_str text);
	void (*paragraph)(struct fh_buf *out, struct fh_str text);
	/* A table: its head, its rows of `count` cells, its end. */
	void (*table)(struct fh_buf *out, const char *const *names, size_t count);
	void (*row)(struct fh_buf *out, const struct fh_str *cells, size_t count);
	void (*table_end)(struct fh_buf *out);
	/* Text as it stands, with a word on what it is. */
	void (*block)(struct fh_buf *out, const char *label, struct fh_str text);
	void (*end)(struct fh_buf *out);
};
extern const struct fh_report_form fh_report_html, fh_report_markdown;

/* By the end of a file's name, or by a name without a dot ("html", "md"). FH_E_ARGUMENT names those that there are. */
int fh_report_form_for(const char *path, const struct fh_report_form **ret, struct fh_error *err);

/* failures_max: how many failures are told in full; the others are counted. */
int fh_report_write(struct fh_store *s, const struct fh_store_eval *eval, const struct fh_report_form *form,
                    uint64_t failures_max, struct fh_buf *out, struct fh_error *err);
