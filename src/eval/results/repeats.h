/* SPDX-License-Identifier: MIT */
/*
 * Statistics of an eval with repeats: pass@k and pass^k (judge/rows/estimate.h has the formulas). A task is a test with
 * one combination of its variables. Its samples are the repeats that ended in a verdict; errors do not count. Intervals
 * are clustered by task.
 */
#pragma once
#include "eval/plan/plan.h"
#include "eval/results/results.h"

/* An array with the `repeats` member of each column's metrics; null for a column where no task has two samples.
 *
 * {tasks, flaky, passAtK: {"1": {value, tasks, low, high}, …}, passHatK: {…}}
 *
 * flaky is the number of tasks that pass in some repeats and fail in others. Values are between 0 and 1; low and high
 * are null when there is no interval. New reference. */
FH_OWN json_t *fh_eval_repeats(const struct fh_eval_plan *plan, const struct fh_eval_mark *marks);
/* Appends a line such as "pass@1 62.5 % (41.2 to 83.8), pass@5 …, pass^5 …; 8 tests, 3 flaky" from a column's metrics.
 * Returns false and appends nothing when they have no `repeats`. */
bool fh_eval_repeats_line(struct fh_buf *out, FH_NULLABLE const json_t *metrics);
