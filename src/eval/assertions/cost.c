/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!call->has_threshold)
		return fh_error_set(err, FH_E_ARGUMENT, "Cost assertion must have a threshold");
	const json_t *cost = json_object_get(call->response, "cost");
	if (!json_is_number(cost))
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "Cost assertion is not supported for providers that do not return cost");
	struct fh_buf threshold = FH_BUF_INIT(0);
	fh_json_write_number(&threshold, call->threshold);
	double n = json_number_value(cost);
	fh_grade_set(ret, call, n <= call->threshold, "Cost %.*f is %s threshold %s", n >= 1 ? 2 : 4, n,
	             call->inverse ? "less than or equal to" : "greater than", fh_buf_cstr(&threshold));
	fh_buf_release(&threshold);
	return 0;
}

const struct fh_assertion fh_assertion_cost = { .name = "cost", .check = check };
