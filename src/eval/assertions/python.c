/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "eval/common/text.h"
#include "eval/grading/grade.h"
#include "eval/services/services.h"
#include "script/script.h"

static int failed(struct fh_grade *ret, char *reason)
{
	ret->pass = false;
	ret->score = 0;
	free(ret->reason);
	ret->reason = reason;
	return 0;
}

/* The assertions of this file: one code for two languages. */
static const struct dialect {
	const struct fh_assertion *assertion;
	const char *name;
	enum fh_script_language language;
} dialects[] = {
	{ &fh_assertion_python, "Python", FH_SCRIPT_PYTHON },
	{ &fh_assertion_ruby, "Ruby", FH_SCRIPT_RUBY },
};

static const struct dialect *dialect_of(const struct fh_assertion_call *call)
{
	size_t i = 0;
	while (i + 1 < FH_ARRAY_SIZE(dialects) && dialects[i].assertion != call->kind)
		i++;
	return &dialects[i];
}

/* How messages name the language of the assertion's script. */
static const char *language_name(const struct fh_assertion_call *call)
{
	return dialect_of(call)->name;
}

static int wrong_form(struct fh_grade *ret, const struct fh_assertion_call *call, const char *instead)
{
	const char *language = language_name(call);
	return failed(ret, fh_xasprintf("%s code execution failed: %s assertion must return a boolean, number, or "
	                                "{pass, score, reason} object. Instead got:\n%s",
	                                language, language, instead));
}

static int from_bool(struct fh_grade *ret, const struct fh_assertion_call *call, bool holds, const char *code)
{
	return fh_grade_set(ret, call, holds, "%s code returned %s\n%s", language_name(call), holds ? "true" : "false",
	                    code);
}

static int from_number(struct fh_grade *ret, const struct fh_assertion_call *call, double n, const char *code)
{
	from_bool(ret, call, call->has_threshold ? n >= call->threshold : n > 0, code);
	ret->score = n;
	return 0;
}

/* Renames the members of a Python result to promptfoo's names: named_scores to namedScores, pass_ (`pass` is a keyword)
 * to pass. */
static json_t *camel_case(const json_t *value)
{
	if (json_is_array(value)) {
		json_t *a = json_array();
		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(a, camel_case(json_array_get(value, i)));
		return a;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)(uintptr_t)value);
	static const char *const names[][2] = {
		{ "pass_", "pass" },
		{ "named_scores", "namedScores" },
		{ "component_results", "componentResults" },
		{ "tokens_used", "tokensUsed" },
	};
	json_t *o = json_object();
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		const char *name = key;
		for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
			if (strcmp(key, names[i][0]) == 0)
				name = names[i][1];
		/* The user chose the names of the scores: only the name of the object that holds them is changed. */
		json_object_set_new(o, name, strcmp(name, "namedScores") == 0 ? json_incref(v) : camel_case(v));
	}
	return o;
}

static int from_object(struct fh_grade *ret, const struct fh_assertion_call *call, const json_t *value)
{
	fh_auto_json json_t *object = camel_case(value);
	if (!fh_grade_is_object(object)) {
		fh_auto_free char *text = fh_json_text(object, 2);
		return wrong_form(ret, call, text);
	}
	fh_grade_from_object(ret, object);
	if (call->has_threshold && ret->score < call->threshold) {
		struct fh_buf b = FH_BUF_INIT(0);
		fh_buf_addf(&b, "%s score ", language_name(call));
		fh_json_write_number(&b, ret->score);
		fh_buf_adds(&b, " is less than threshold ");
		fh_json_write_number(&b, call->threshold);
		if (ret->reason && *ret->reason)
			fh_buf_addf(&b, ": %s", ret->reason);
		free(ret->reason);
		ret->reason = fh_buf_take(&b, NULL);
		ret->pass = false;
	}
	if (!call->inverse)
		return 0;
	bool was = ret->pass;
	ret->pass = !was;
	free(ret->reason);
	ret->reason = was ? fh_xasprintf("%s code returned true", language_name(call)) : fh_xstrdup("Assertion passed");
	return 0;
}

/* Reads a decimal number at the start of a text, as JavaScript's parseFloat does: no hexadecimal, no nan. */
static bool leading_number(const char *s, double *ret)
{
	while (isspace((unsigned char)*s))
		s++;
	const char *digits = s + (*s == '-' || *s == '+');
	if (!isdigit((unsigned char)*digits) && !(*digits == '.' && isdigit((unsigned char)digits[1])))
		return false;
	size_t n = strspn(s, "0123456789+-.eE");
	fh_auto_free char *prefix = fh_xstrndup(s, n);
	*ret = strtod(prefix, NULL);
	return true;
}

static int from_text(struct fh_grade *ret, const struct fh_assertion_call *call, const char *text, const char *code)
{
	if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)
		return from_bool(ret, call, text[0] == 't' || text[0] == 'T', code);
	if (*text == '{') {
		struct fh_error problem = FH_ERROR_INIT;
		fh_auto_json json_t *parsed = fh_json_parse(fh_str(text), NULL, &problem);
		if (!parsed)
			return failed(ret, fh_xasprintf("%s code execution failed: Invalid JSON: %s when parsing result: %s",
			                                language_name(call), problem.message, text));
		return from_object(ret, call, parsed);
	}
	double n;
	return leading_number(text, &n) ? from_number(ret, call, n, code) : wrong_form(ret, call, text);
}

static int grade(const json_t *value, const struct fh_assertion_call *call, const char *code, struct fh_grade *ret)
{
	if (json_is_boolean(value))
		return from_bool(ret, call, json_is_true(value), code);
	if (json_is_number(value))
		return from_number(ret, call, json_number_value(value), code);
	if (json_is_string(value))
		return from_text(ret, call, json_string_value(value), code);
	if (json_is_object(value) || json_is_array(value))
		return from_object(ret, call, value);
	return wrong_form(ret, call, "null");
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion type must have a string value", call->kind->name);
	const char *code = json_string_value(call->value);
	const char *as_written = fh_json_str(call->assertion, "value", code);
	fh_auto_free char *file = NULL;
	fh_auto_free char *function = NULL;
	enum fh_script_language language = dialect_of(call)->language;
	if (fh_text_is_file(code)) {
		fh_text_split_file(code, call->config_dir, &file, &function);
		fh_script_language_of(file, &language); /* a file of another language is run, as promptfoo does */
	}
	bool named = function || !file || language == FH_SCRIPT_JAVASCRIPT;
	fh_auto_json json_t *args = json_pack("[O, o]", call->output, fh_assertion_context(call));
	fh_auto_script_result struct fh_script_result result = { 0 };
	int r =
	    fh_script_call(fh_services_scripts(call->services),
	                   &(struct fh_script_call){ .language = language,
	                                             .code = file ? NULL : code,
	                                             .file = file,
	                                             .function = named ? function : "get_assert",
	                                             .timeout_ms = fh_assertion_script_timeout(call),
	                                             .sandbox = json_is_true(json_object_get(call->assertion, "sandbox")),
	                                             .repeatable = true,
	                                             .args = args },
	                   &result, err);
	if (r < 0)
		return r;
	if (result.outcome == FH_SCRIPT_RETURNED)
		return grade(result.value, call, as_written, ret);
	const char *name = result.error_name ? result.error_name : "", *trace = result.error_traceback;
	return failed(ret, fh_xasprintf("%s%sError running %s script: %s%s%s%s%s", file ? "" : language_name(call),
	                                file ? "" : " code execution failed: ", language_name(call), name,
	                                *name ? ": " : "", result.error_message ? result.error_message : "the worker ended",
	                                trace && *trace ? "\nPython Traceback: " : "", trace && *trace ? trace : ""));
}

const struct fh_assertion fh_assertion_python = { .name = "python", .check = check, .raw_file_value = true };
const struct fh_assertion fh_assertion_ruby = { .name = "ruby", .check = check, .raw_file_value = true };
