/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_free char *value = NULL;
	int r = fh_call_value_text(call, &value, err);
	if (r < 0)
		return r;
	return fh_grade_set(ret, call, fh_starts_with(call->output_text.p, value), "Expected output to %sstart with \"%s\"",
	                    fh_call_not(call), value);
}

const struct fh_assertion fh_assertion_starts_with = { .name = "starts-with", .check = check };
