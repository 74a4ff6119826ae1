/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"
#include "eval/services/services.h"
#include "script/script.h"

static int threw(struct fh_grade *ret, const char *what, const char *trace)
{
	ret->pass = false;
	ret->score = 0;
	ret->reason = trace && *trace ? fh_xasprintf("Custom function threw error: %s\nStack Trace: %s", what, trace)
	                              : fh_xasprintf("Custom function threw error: %s", what);
	return 0;
}

/* A script returns a boolean, a number, or an object {pass, score, reason, …}. Under "not-" the object's score stays.
 */
static int grade(const struct fh_script_result *r, const struct fh_assertion_call *call, const char *code,
                 struct fh_grade *ret)
{
	if (fh_grade_is_object(r->value)) {
		fh_grade_from_object(ret, r->value);
		if (call->inverse) {
			free(ret->reason);
			ret->reason = ret->pass ? fh_xstrdup("Custom function returned true") : fh_xstrdup("Assertion passed");
			ret->pass = !ret->pass;
		}
		return 0;
	}
	bool holds;
	double number = json_number_value(r->value);
	/* In JavaScript a boolean and a number may also be those of an object, and of a bigint. */
	bool other = fh_streq(r->type, "object") || fh_streq(r->type, "bigint");
	if (json_is_boolean(r->value) && !other) {
		holds = json_is_true(r->value);
	} else if (json_is_number(r->value) && !other) {
		holds = call->has_threshold ? number >= call->threshold : number > 0;
	} else {
		fh_auto_free char *value = fh_streq(r->type, "undefined") ? fh_xstrdup("undefined") : fh_json_text(r->value, 0);
		const char *type = fh_streq(r->type, "null") || fh_streq(r->type, "array") ? "object" : r->type;
		fh_auto_free char *what =
		    fh_xasprintf("Custom function must return a boolean, number, or GradingResult object. "
		                 "Got type %s: %s",
		                 type, value);
		return threw(ret, what, NULL);
	}
	fh_grade_set(ret, call, holds, "Custom function returned %s\n%s", holds ? "true" : "false", code);
	if (json_is_number(r->value))
		ret->score = number;
	return 0;
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value))
		return threw(ret, "javascript assertion must have a string value", NULL);
	struct fh_str text = { json_string_value(call->value), json_string_length(call->value) };
	while (text.n > 0 && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	fh_auto_free char *code = fh_xstrndup(text.p, text.n);
	fh_auto_free char *file = NULL;
	fh_auto_free char *function = NULL;
	enum fh_script_language language = FH_SCRIPT_JAVASCRIPT;
	if (fh_text_is_file(code)) {
		fh_text_split_file(code, call->config_dir, &file, &function);
		fh_script_language_of(file, &language); /* a file of another language is run, as promptfoo does */
	}
	bool other = language != FH_SCRIPT_JAVASCRIPT;
	fh_auto_json json_t *args = json_pack("[O, o]", call->output, fh_assertion_context(call));
	fh_auto_script_result struct fh_script_result result = { 0 };
	int r =
	    fh_script_call(fh_services_scripts(call->services),
	                   &(struct fh_script_call){ .language = language,
	                                             .code = file ? NULL : code,
	                                             .file = file,
	                                             .function = other && !function ? "get_assert" : function,
	                                             .timeout_ms = fh_assertion_script_timeout(call),
	                                             .sandbox = json_is_true(json_object_get(call->assertion, "sandbox")),
	                                             .repeatable = true,
	                                             .args = args },
	                   &result, err);
	if (r < 0)
		return r;
	if (result.outcome == FH_SCRIPT_RETURNED)
		return grade(&result, call, code, ret);
	/* As in promptfoo, a file that is missing or throws is a mistake of the config's author, and makes the row an
	 * error. */
	if (!other && (result.outcome == FH_SCRIPT_MISSING || (file && result.outcome == FH_SCRIPT_THREW)))
		return fh_error_set(err, FH_E_ARGUMENT, "%s%s%s", result.error_name ? result.error_name : "",
		                    result.error_name && *result.error_name ? ": " : "", result.error_message);
	return threw(ret, result.error_message ? result.error_message : "the worker ended", result.error_traceback);
}

const struct fh_assertion fh_assertion_javascript = { .name = "javascript", .check = check, .raw_file_value = true };
