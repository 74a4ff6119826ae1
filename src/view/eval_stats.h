/* SPDX-License-Identifier: MIT */
/* An eval's sums as promptfoo's API tells them. */
#pragma once
#include "json/json.h"
#include "store/store.h"

/* {successes, failures, errors, tokenUsage, durationMs, evaluationDurationMs}; tokenUsage is summed over the columns'
 * metrics. New reference. */
FH_OWN json_t *fh_view_stats_json(const struct fh_store_eval *e, const json_t *columns);
