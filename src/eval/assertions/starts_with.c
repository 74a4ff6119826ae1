/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const char *value = json_string_value(call->value);
	if (!value || !*value)
		return fh_error_set(err, FH_E_ARGUMENT, "\"starts-with\" assertion type must have a string value");
	return fh_grade_set(ret, call, fh_starts_with(call->output_text.p, value), "Expected output to %sstart with \"%s\"",
	                    fh_call_not(call), value);
}

const struct fh_assertion fh_assertion_starts_with = { .name = "starts-with", .check = check };
