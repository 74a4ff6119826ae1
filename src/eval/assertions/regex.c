/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/common/pattern.h"
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value) || json_string_length(call->value) == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "\"regex\" assertion type must have a string value");
	struct fh_str pattern = { json_string_value(call->value), json_string_length(call->value) };
	fh_auto_pattern pcre2_code *code = NULL;
	struct fh_error problem = FH_ERROR_INIT;
	if (fh_pattern_compile(pattern, &code, &problem) < 0) {
		ret->pass = false;
		ret->score = 0;
		ret->reason = fh_xasprintf("Invalid regex pattern: Invalid regular expression: %s", problem.message);
		return 0;
	}
	int n = fh_pattern_match(code, call->output_text, 0, NULL, &problem);
	if (n < 0 && n != -FH_E_NOT_FOUND) {
		ret->pass = false;
		ret->score = 0;
		ret->reason = fh_xasprintf("Regex \"%s\" could not be matched: %s", pattern.p, problem.message);
		return 0;
	}
	return fh_grade_set(ret, call, n >= 0, "Expected output to %smatch regex \"%s\"", fh_call_not(call), pattern.p);
}

const struct fh_assertion fh_assertion_regex = { .name = "regex", .check = check };
