/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include <strings.h>
#include "eval/grading/grade.h"

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"finish-reason\" assertion type must have a string value");
	const char *wanted = json_string_value(call->value);
	const char *reason = fh_json_str(call->response, "finishReason", NULL);
	if (!reason)
		return fh_grade_set(ret, call, false, "Provider did not supply stop/finish reason");
	return fh_grade_set(ret, call, strcasecmp(reason, wanted) == 0, "Expected finish reason %s\"%s\" but got \"%s\"",
	                    fh_call_not(call), wanted, reason);
}

const struct fh_assertion fh_assertion_finish_reason = { .name = "finish-reason", .check = check };
