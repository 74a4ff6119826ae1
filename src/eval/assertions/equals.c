/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

/* Numbers compare by value: 1 and 1.0 are the same number in JSON and in JavaScript. */
static bool same_json(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_is_integer(a) && json_is_integer(b) ? json_integer_value(a) == json_integer_value(b)
		                                                : json_number_value(a) == json_number_value(b);
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return false;
		for (size_t i = 0; i < json_array_size(a); i++)
			if (!same_json(json_array_get(a, i), json_array_get(b, i)))
				return false;
		return true;
	}
	if (!json_is_object(a))
		return json_equal(a, b);
	if (json_object_size(a) != json_object_size(b))
		return false;
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)a, key, v)
	{
		const json_t *w = json_object_get(b, key);
		if (!w || !same_json(v, w))
			return false;
	}
	return true;
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const char *no = fh_call_not(call);
	/* A null that is written is compared as JSON; a value that is missing is not. */
	bool null = json_is_null(json_object_get(call->assertion, "value"));
	if (json_is_object(call->value) || json_is_array(call->value) || null) {
		fh_auto_json json_t *output = fh_json_parse(call->output_text, NULL, NULL);
		fh_auto_free char *value = null ? fh_xstrdup("null") : fh_json_text(call->value, 0);
		return fh_grade_set(ret, call, output && (null ? json_is_null(output) : same_json(output, call->value)),
		                    "Expected output \"%s\" to %sequal \"%s\"", call->output_text.p, no, value);
	}
	/* The expected value as JavaScript's String() prints it; a missing value prints as "undefined". */
	fh_auto_free char *value = NULL;
	if (json_is_string(call->value))
		value = fh_xstrndup(json_string_value(call->value), json_string_length(call->value));
	else
		value = call->value ? fh_json_text(call->value, 0) : fh_xstrdup("undefined");
	bool same = json_is_string(call->value) ? call->output_text.n == json_string_length(call->value) &&
	                                              memcmp(call->output_text.p, value, call->output_text.n) == 0
	                                        : fh_str_eq(call->output_text, value);
	return fh_grade_set(ret, call, same, "Expected output \"%s\" to %sequal \"%s\"", call->output_text.p, no, value);
}

const struct fh_assertion fh_assertion_equals = { .name = "equals", .check = check };
