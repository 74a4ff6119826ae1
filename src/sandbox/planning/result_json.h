/* SPDX-License-Identifier: MIT */
/* Parts of a result as JSON, in the form that `fumehood run --json` prints (fh_result_json). */
#pragma once
#include "fumehood/sandbox.h"
#include "json/json.h"

/* {cpu_ms, cpu_user_ms, cpu_sys_ms, wall_ms, memory_peak_bytes, memory_baseline_bytes, processes_peak}; what is not
 * known is null. New reference. */
FH_OWN json_t *fh_usage_json(const struct fh_usage *u);
