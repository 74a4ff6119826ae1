/* SPDX-License-Identifier: MIT */
#include "judge/rows/evidence.h"

#include "sandbox/planning/result_json.h"

void fh_judge_evidence_add(json_t *o, const struct fh_judge_outcome *outcome)
{
	static const struct fh_usage nothing;
	const struct fh_result *run = outcome->run;
	json_object_set_new(o, "integrity", json_string(outcome->integrity));
	json_object_set_new(o, "exit_code", run && run->exit_code >= 0 ? json_integer(run->exit_code) : json_null());
	json_object_set_new(o, "signal", run && run->signal > 0 ? json_integer(run->signal) : json_null());
	json_object_set_new(o, "usage", fh_usage_json(run ? &run->usage : &nothing));
	if (outcome->judge)
		json_object_set_new(o, "judge_usage", fh_usage_json(&outcome->judge->usage));
	if (outcome->raised_cpu_time)
		json_object_set_new(o, "raised_limits",
		                    json_pack("{s:I, s:I}", "cpu_time", (json_int_t)outcome->raised_cpu_time, "wall_time",
		                              (json_int_t)outcome->raised_wall_time));
	if (outcome->seed[0])
		json_object_set_new(o, "seed", fh_json_bytes(fh_str(outcome->seed)));
	if (outcome->repeats) {
		json_object_set_new(
		    o, "repeats",
		    json_pack("{s:i, s:i}", "judged", (int)outcome->repeats, "passed", (int)outcome->repeats_passed));
		json_object_set_new(o, "flaky", json_boolean(outcome->flaky));
	}
}
