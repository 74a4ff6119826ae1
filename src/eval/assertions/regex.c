/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/config/pattern.h"
#include "eval/grading/grade.h"

/* The text comes from a model and can be hostile: these bounds keep a match below a fraction of a second and some
 * megabytes. */
#define STEPS_MAX 10000000u
#define HEAP_KIB_MAX 65536u

static void free_code(pcre2_code **p)
{
	pcre2_code_free(*p);
}
static void free_data(pcre2_match_data **p)
{
	pcre2_match_data_free(*p);
}
static void free_match_context(pcre2_match_context **p)
{
	pcre2_match_context_free(*p);
}
static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value) || json_string_length(call->value) == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "\"regex\" assertion type must have a string value");
	struct fh_str pattern = { json_string_value(call->value), json_string_length(call->value) };
	char text[256] = "";
	FH_CLEANUP(free_code) pcre2_code *code = NULL;
	struct fh_error problem = FH_ERROR_INIT;
	if (fh_pattern_compile(pattern, &code, &problem) < 0) {
		ret->pass = false;
		ret->score = 0;
		ret->reason = fh_xasprintf("Invalid regex pattern: Invalid regular expression: %s", problem.message);
		return 0;
	}
	FH_CLEANUP(free_match_context) pcre2_match_context *context = pcre2_match_context_create(NULL);
	FH_CLEANUP(free_data) pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	if (!context || !data)
		return fh_error_set(err, FH_E_LIMIT, "no memory to match a pattern");
	pcre2_set_match_limit(context, STEPS_MAX);
	pcre2_set_heap_limit(context, HEAP_KIB_MAX);
	int n = pcre2_match(code, (PCRE2_SPTR)call->output_text.p, call->output_text.n, 0, 0, data, context);
	if (n < 0 && n != PCRE2_ERROR_NOMATCH) {
		pcre2_get_error_message(n, (PCRE2_UCHAR *)text, sizeof(text));
		ret->pass = false;
		ret->score = 0;
		ret->reason = fh_xasprintf("Regex \"%s\" could not be matched: %s", pattern.p, text);
		return 0;
	}
	return fh_grade_set(ret, call, n >= 0, "Expected output to %smatch regex \"%s\"", fh_call_not(call), pattern.p);
}

const struct fh_assertion fh_assertion_regex = { .name = "regex", .check = check };
