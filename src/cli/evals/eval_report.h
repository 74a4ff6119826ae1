/* SPDX-License-Identifier: MIT */
/* The human-readable output of an eval: the grid of results and the summary. Untrusted text is escaped. */
#pragma once
#include "eval/results/results.h"

struct fh_report_options {
	unsigned width; /* width of the terminal in columns */
	bool color;
	size_t rows_max; /* maximum of rows in the grid */
	size_t cell_max; /* maximum of characters in a cell */
};

/* The grid: variables, then a column for each "[provider] prompt": [PASS] output, [FAIL] reason --- output, [ERROR]
 * message. */
void fh_report_table(const struct fh_eval_plan *plan, struct fh_eval_results *r, const struct fh_report_options *o,
                     struct fh_buf *out);
/* Why tests did not pass: each reason once with its count, the most frequent first. */
void fh_report_reasons(const struct fh_eval_results *r, const struct fh_report_options *o, struct fh_buf *out);
/* Passed, failed, errors with percentages; named scores; tokens; duration. */
void fh_report_summary(const struct fh_eval_plan *plan, const struct fh_eval_results *r,
                       const struct fh_report_options *o, struct fh_buf *out);
