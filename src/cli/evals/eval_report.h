/* SPDX-License-Identifier: MIT */
/* What an eval prints for people: the grid of results and the summary. Everything untrusted is escaped. */
#pragma once
#include "eval/results.h"

struct fh_report_options {
	unsigned width; /* of the terminal */
	bool color;
	size_t rows_max; /* of the grid */
	size_t cell_max; /* characters of a cell */
};

/* Variables, then a column per "[provider] prompt": [PASS] output, [FAIL] reason --- output, [ERROR] message. */
void fh_report_table(const struct fh_eval_plan *plan, struct fh_eval_results *r, const struct fh_report_options *o,
                     struct fh_buf *out);
/* Passed, failed, errors with percentages; named scores; tokens; duration. */
/* The reasons of the tests that did not pass, equal ones once with their count, the most frequent first. */
void fh_report_reasons(const struct fh_eval_results *r, const struct fh_report_options *o, struct fh_buf *out);
void fh_report_summary(const struct fh_eval_plan *plan, const struct fh_eval_results *r,
                       const struct fh_report_options *o, struct fh_buf *out);
