/* SPDX-License-Identifier: MIT */
/* Assertions that compare the columns of a row (fh_eval_compares_columns): select-best, which asks a model, and
 * max-score. They are judged when every cell of the row is done, select-best first. */
#pragma once
#include "eval/run.h"

/* Judges the comparing assertions of a test; `cells` are the n results of its row, column by column, and are
 * changed. */
void fh_eval_compare_columns(const struct fh_eval_run *run, const json_t *test, struct fh_eval_result *cells, size_t n);
