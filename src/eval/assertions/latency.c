/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!call->has_threshold)
		return fh_error_set(err, FH_E_ARGUMENT, "Latency assertion must have a threshold in milliseconds");
	if (call->kept)
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "Latency assertion does not support cached results. Rerun the eval with --no-cache");
	return fh_grade_set(ret, call, call->latency_ms <= call->threshold, "Latency %.0fms is %s threshold %gms",
	                    call->latency_ms, call->inverse ? "less than or equal to" : "greater than", call->threshold);
}

const struct fh_assertion fh_assertion_latency = { .name = "latency", .check = check };
