/* SPDX-License-Identifier: MIT */
/* Sums over the cells that a filter selects, as promptfoo's API tells them beside a filtered table. The numbers are
 * those of src/util/calculateFilteredMetrics.ts of promptfoo 0.123.1. */
#pragma once
#include "json/json.h"
#include "store/rows.h"

/* An array with promptfoo's metrics for each column: {score, testPassCount, …, tokenUsage, namedScores, …}. Reads the
 * data of every cell that the filter selects. New reference. */
int fh_view_filtered_metrics(struct fh_store *s, const struct fh_store_eval *e, const struct fh_store_row_filter *f,
                             FH_OWN json_t **ret, struct fh_error *err);
