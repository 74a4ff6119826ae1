/* SPDX-License-Identifier: MIT */
/*
 * What an eval with repeats says of its tests: pass@k and pass^k (judge/estimate.h, which has the formulas). A task is
 * a test with one combination of its variables; its samples are the repeats that ended in a verdict, so that errors
 * are none. The tasks are the clusters of the intervals.
 */
#pragma once
#include "eval/plan.h"
#include "eval/results.h"

/* For each column the member `repeats` of its metrics, as an array; null for a column where no task has two samples.
 *
 *     {tasks, flaky, passAtK: {"1": {value, tasks, low, high}, …}, passHatK: {…}}
 *
 * flaky: tasks that pass in some repeats and not in others. Values are from 0 to 1; low and high are null where there
 * is no interval. New reference. */
FH_OWN json_t *fh_eval_repeats(const struct fh_eval_plan *plan, const struct fh_eval_mark *marks);
/* "pass@1 62.5 % (41.2 to 83.8), pass@5 …, pass^5 …; 8 tests, 3 flaky" of a column's metrics. Appends nothing
 * and returns false where they have no repeats. */
bool fh_eval_repeats_line(struct fh_buf *out, FH_NULLABLE const json_t *metrics);
