/* SPDX-License-Identifier: MIT */
/* Parts of a result as JSON, in the form that `fumehood run --json` prints (fh_result_json). */
#pragma once
#include "fumehood/sandbox.h"
#include "json/json.h"

/* {cpu_ms, cpu_user_ms, cpu_sys_ms, wall_ms, memory_peak_bytes, memory_baseline_bytes, processes_peak}; what is not
 * known is null. New reference. */
FH_OWN json_t *fh_usage_json(const struct fh_usage *u);
/* How a program ended, what it wrote and used: status, exit_code, signal, stdout, stderr, …, usage. New reference. */
FH_OWN json_t *fh_outcome_json(const struct fh_result *r);
/* Every layer by its name: true, read back from the kernel, or a string why it is missing. New reference. */
FH_OWN json_t *fh_isolation_json(const struct fh_result *r);
/* Every limit by its name: {value, unit, enforced}, with null for a limit that was not set. New reference. */
FH_OWN json_t *fh_limits_json(const struct fh_result *r);
/* The names of the limits that fired, a bit each. New reference. */
FH_OWN json_t *fh_fired_json(uint32_t fired);
