/* SPDX-License-Identifier: MIT */
/*
 * Assertions on the tools that an answer calls: is-valid-openai-tools-call and is-valid-openai-function-call (names and
 * arguments as the provider's `tools` and `functions` describe them), tool-call-f1 (which of the expected tools were
 * called), and skill-used (metadata.skillCalls).
 */
#include <fnmatch.h>
#include "eval/assertions/kinds.h"
#include "eval/config/schema/schema.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"
#include "eval/grading/json_in_text.h"

/* ------------------------------------------------------------------------------------------------------ valid calls */

/* Whether {name, arguments: JSON text} is a call of one of `functions`. *ret_why is NULL when it is. */
static int check_call(const json_t *function, const json_t *functions, char **ret_why, struct fh_error *err)
{
	const char *name = fh_json_str(function, "name", NULL), *text = fh_json_str(function, "arguments", NULL);
	fh_auto_json json_t *arguments = text ? fh_json_parse(fh_str(text), NULL, NULL) : NULL;
	*ret_why = NULL;
	for (size_t i = 0; name && i < json_array_size(functions); i++) {
		const json_t *known = json_array_get(functions, i), *schema = json_object_get(known, "parameters");
		if (strcmp(fh_json_str(known, "name", ""), name) != 0)
			continue;
		if (!arguments) {
			*ret_why = fh_xasprintf("Call to \"%s\" has arguments that are no JSON: %s", name, text ? text : "");
			return 0;
		}
		char *problems = NULL;
		int r = schema ? fh_schema_check(schema, arguments, &problems, err) : 0;
		if (problems)
			*ret_why = fh_xasprintf("Call to \"%s\" does not match schema: %s", name, problems);
		free(problems);
		return r;
	}
	*ret_why = fh_xasprintf("Called \"%s\", but there is no function with that name", name ? name : "");
	return 0;
}

static json_t *functions_of_tools(const json_t *tools)
{
	json_t *list = json_array();
	for (size_t i = 0; i < json_array_size(tools); i++) {
		json_t *function = json_object_get(json_array_get(tools, i), "function");
		if (function)
			json_array_append(list, function);
	}
	return list;
}

static int failed(const struct fh_assertion_call *call, struct fh_grade *ret, const char *why)
{
	fh_grade_set(ret, call, false, "%s", why);
	return 0;
}

static json_t *parsed_output(const struct fh_assertion_call *call)
{
	json_t *parsed = json_is_string(call->output) ? fh_json_parse(call->output_text, NULL, NULL) : NULL;
	return parsed ? parsed : json_incref((json_t *)(uintptr_t)call->output);
}

static int check_tools(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *output = parsed_output(call);
	const json_t *calls = json_object_get(output, "tool_calls");
	calls = calls ? calls : output;
	const json_t *tools = json_object_get(json_object_get(call->provider, "config"), "tools");
	bool shaped = json_array_size(calls) > 0;
	for (size_t i = 0; shaped && i < json_array_size(calls); i++) {
		const json_t *function = json_object_get(json_array_get(calls, i), "function");
		shaped =
		    json_is_string(json_object_get(function, "name")) && json_is_string(json_object_get(function, "arguments"));
	}
	if (!shaped) {
		fh_auto_free char *text = fh_json_text(calls, 0);
		fh_auto_free char *why = fh_xasprintf("OpenAI did not return a valid-looking tools response: %s", text);
		return failed(call, ret, why);
	}
	if (!json_is_array(tools))
		return failed(call, ret, "No tools configured in provider, but output contains tool calls");
	fh_auto_json json_t *functions = functions_of_tools(tools);
	for (size_t i = 0; i < json_array_size(calls); i++) {
		fh_auto_free char *why = NULL;
		int r = check_call(json_object_get(json_array_get(calls, i), "function"), functions, &why, err);
		if (r < 0)
			return r;
		if (why)
			return failed(call, ret, why);
	}
	return fh_grade_set(ret, call, true, "%s", "");
}

static int check_function(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *output = parsed_output(call);
	const json_t *inner = json_object_get(output, "function_call");
	fh_auto_free char *why = NULL;
	const json_t *functions = json_object_get(json_object_get(call->provider, "config"), "functions");
	if (!json_is_object(inner ? inner : output))
		return failed(call, ret, "The output is not a function call");
	int r = check_call(inner ? inner : output, functions, &why, err);
	return r < 0 ? r : fh_grade_set(ret, call, !why, "%s", why ? why : "The output is a valid function call");
}

/* -------------------------------------------------------------------------------------------------------------- F1 */

static void add_name(json_t *names, const json_t *name)
{
	if (json_is_string(name))
		json_object_set_new(names, json_string_value(name), json_true());
}

static bool is_type(const json_t *o, const char *type)
{
	return strcmp(fh_json_str(o, "type", ""), type) == 0;
}

/* The tools that one block of an answer calls, in the forms of OpenAI, Anthropic and Google. */
static void add_tools(json_t *names, const json_t *o)
{
	const json_t *calls = json_object_get(o, "tool_calls"), *google = json_object_get(o, "functionCall");
	const json_t *live = json_object_get(json_object_get(o, "toolCall"), "functionCalls");
	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *c = json_array_get(calls, i);
		add_name(names, json_object_get(json_object_get(c, "function"), "name"));
		add_name(names, json_object_get(c, "name"));
	}
	for (size_t i = 0; i < json_array_size(live); i++)
		add_name(names, json_object_get(json_array_get(live, i), "name"));
	if (calls || live)
		return;
	if (is_type(o, "tool_use") || is_type(o, "function_call"))
		add_name(names, json_object_get(o, "name"));
	else
		add_name(names, json_object_get(google, "name"));
}

static void add_items(json_t *names, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i), *function = json_object_get(item, "function");
		const json_t *google = json_object_get(item, "functionCall");
		add_name(names, json_object_get(json_is_object(function) ? function : google ? google : item, "name"));
	}
}

static json_t *called_tools(const struct fh_assertion_call *call)
{
	json_t *names = json_object();
	fh_auto_json json_t *output = parsed_output(call);
	if (json_is_array(output))
		add_items(names, output);
	else if (json_is_object(output))
		add_tools(names, output);
	if (!json_is_string(output))
		return names;
	fh_auto_json json_t *blocks = fh_json_in_text(call->output_text);
	for (size_t i = 0; i < json_array_size(blocks); i++)
		add_tools(names, json_array_get(blocks, i));
	return names;
}

static int expected_tools(const struct fh_assertion_call *call, json_t **ret, struct fh_error *err)
{
	json_t *names = json_object();
	const char *text = json_string_value(call->value);
	for (const char *s = text; s;) {
		struct fh_str name = fh_text_trim((struct fh_str){ s, strcspn(s, ",") });
		fh_auto_free char *copy = fh_xstrndup(name.p, name.n);
		if (*copy)
			json_object_set_new(names, copy, json_true());
		s = s[strcspn(s, ",")] ? s + strcspn(s, ",") + 1 : NULL;
	}
	for (size_t i = 0; i < json_array_size(call->value); i++)
		add_name(names, json_array_get(call->value, i));
	if (json_object_size(names) == 0) {
		json_decref(names);
		return fh_error_set(err, FH_E_ARGUMENT, "\"tool-call-f1\" needs the names of tools, as a list or \"a, b\"");
	}
	*ret = names;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the names, sorted, with commas between them. */
static void list_names(struct fh_buf *out, json_t *names)
{
	size_t n = 0;
	fh_auto_free const char **sorted = fh_xcalloc(json_object_size(names) + 1, sizeof(*sorted));
	const char *name;
	json_t *v;
	json_object_foreach(names, name, v) sorted[n++] = name;
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < n; i++)
		fh_buf_addf(out, "%s%s", i ? ", " : "", sorted[i]);
}

static int check_f1(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *expected = NULL;
	int r = expected_tools(call, &expected, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *called = called_tools(call);
	double common = 0;
	const char *name;
	json_t *v;
	json_object_foreach(expected, name, v) common += json_object_get(called, name) != NULL;
	double a = (double)json_object_size(called), b = (double)json_object_size(expected);
	double precision = a > 0 ? common / a : 0, recall = common / b;
	double f1 = common > 0 ? 2 * precision * recall / (precision + recall) : 0;
	double threshold = call->has_threshold ? call->threshold : 1;
	fh_grade_set(ret, call, f1 >= threshold, "%s", "");
	ret->score = f1;
	fh_auto_buf struct fh_buf wanted = FH_BUF_INIT(0), got = FH_BUF_INIT(0);
	list_names(&wanted, expected);
	list_names(&got, called);
	free(ret->reason);
	if (ret->pass)
		ret->reason = fh_xasprintf("Tool Call F1: %.3f (precision=%.3f, recall=%.3f). Expected: [%s], Called: [%s]", f1,
		                           precision, recall, fh_buf_cstr(&wanted), got.n ? fh_buf_cstr(&got) : "(none)");
	else
		ret->reason = fh_xasprintf("Tool Call F1 score %.3f is %s threshold %g. Expected: [%s], Called: [%s]. "
		                           "Precision=%.3f, Recall=%.3f",
		                           f1, call->inverse ? "above" : "below", threshold, fh_buf_cstr(&wanted),
		                           got.n ? fh_buf_cstr(&got) : "(none)", precision, recall);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- skills */

static size_t count_skill(const struct fh_assertion_call *call, const char *name, bool pattern)
{
	const json_t *all = json_object_get(json_object_get(call->response, "metadata"), "skillCalls");
	size_t n = 0;
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *one = json_array_get(all, i);
		const char *own = fh_json_str(one, "name", NULL);
		if (own && !json_is_true(json_object_get(one, "is_error")))
			n += pattern ? fnmatch(name, own, FNM_CASEFOLD) == 0 : strcmp(name, own) == 0;
	}
	return n;
}

static int check_skill(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const json_t *value = call->value, *min = json_object_get(value, "min"), *max = json_object_get(value, "max");
	const char *name = fh_json_str(value, "name", NULL), *pattern = fh_json_str(value, "pattern", NULL);
	if (json_is_object(value)) {
		if (!name && !pattern)
			return fh_error_set(err, FH_E_ARGUMENT, "skill-used: the value must have a \"name\" or a \"pattern\"");
		double n = (double)count_skill(call, name ? name : pattern, !name);
		double least = min ? json_number_value(min) : max ? 0 : 1;
		bool holds = call->inverse ? n > 0 : n >= least && (!max || n <= json_number_value(max));
		return fh_grade_set(ret, call, holds, "Matched skill \"%s\" %g time(s)", name ? name : pattern, n);
	}
	fh_auto_json json_t *list =
	    json_is_string(value) ? json_pack("[O]", value) : json_incref((json_t *)(uintptr_t)value);
	size_t used = 0, wanted = json_array_size(list);
	if (wanted == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "skill-used must have a string, string array, or object value");
	for (size_t i = 0; i < wanted; i++) {
		const char *skill = json_string_value(json_array_get(list, i));
		used += skill && count_skill(call, skill, false) > 0;
	}
	return fh_grade_set(ret, call, call->inverse ? used > 0 : used == wanted, "%zu of %zu skills were used", used,
	                    wanted);
}

const struct fh_assertion fh_assertion_tools_call = { .name = "is-valid-openai-tools-call", .check = check_tools };
const struct fh_assertion fh_assertion_function_call = { .name = "is-valid-openai-function-call",
	                                                     .check = check_function };
const struct fh_assertion fh_assertion_any_function_call = { .name = "is-valid-function-call",
	                                                         .check = check_function };
const struct fh_assertion fh_assertion_tool_call_f1 = { .name = "tool-call-f1", .check = check_f1 };
const struct fh_assertion fh_assertion_skill_used = { .name = "skill-used", .check = check_skill };
