/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/config/schema/schema.h"
#include "eval/grading/grade.h"
#include "eval/grading/json_in_text.h"
#include "json/yaml.h"

/* The schema may be an object, or a string that holds one as JSON. */
static int schema_of(const struct fh_assertion_call *call, json_t **ret, struct fh_error *err)
{
	if (!call->value || json_is_null(call->value) || fh_streq(json_string_value(call->value), ""))
		return 0;
	if (json_is_object(call->value)) {
		*ret = json_incref((json_t *)(uintptr_t)call->value);
		return 0;
	}
	if (json_is_string(call->value)) {
		struct fh_str text = { json_string_value(call->value), json_string_length(call->value) };
		*ret = fh_yaml_load(text, "schema", NULL, err); /* JSON is a part of YAML */
		if (*ret)
			return 0;
		return fh_error_wrap(err, "\"%s\": the value is not a JSON schema", call->kind->name);
	}
	return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion must have a string or object value", call->kind->name);
}

static int check_is(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *schema = NULL;
	int r = schema_of(call, &schema, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *value = fh_json_parse(call->output_text, NULL, NULL);
	if (!value || !schema)
		return fh_grade_set(ret, call, value != NULL, "Expected output to %sbe valid JSON", fh_call_not(call));
	fh_auto_free char *problems = NULL;
	r = fh_schema_check(schema, value, &problems, err);
	if (r < 0)
		return r;
	if (call->inverse)
		return fh_grade_set(ret, call, !problems, "Output is JSON that conforms to the provided schema");
	return fh_grade_set(ret, call, !problems, "JSON does not conform to the provided schema. Errors: %s",
	                    problems ? problems : "");
}

/* Passes when an object in the text conforms to the schema; without a schema, when the text holds any JSON object. */
static int check_contains(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *schema = NULL;
	int r = schema_of(call, &schema, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *objects = fh_json_in_text(call->output_text);
	fh_auto_free char *problems = NULL;
	bool holds = !schema && json_array_size(objects) > 0;
	for (size_t i = 0; schema && i < json_array_size(objects) && !holds; i++) {
		free(problems);
		problems = NULL;
		r = fh_schema_check(schema, json_array_get(objects, i), &problems, err);
		if (r < 0)
			return r;
		holds = !problems;
	}
	if (problems && !call->inverse && !holds)
		return fh_grade_set(ret, call, false, "JSON does not conform to the provided schema. Errors: %s", problems);
	return fh_grade_set(ret, call, holds, "Expected output to %scontain valid JSON", fh_call_not(call));
}

const struct fh_assertion fh_assertion_is_json = { .name = "is-json", .check = check_is };
const struct fh_assertion fh_assertion_contains_json = { .name = "contains-json", .check = check_contains };
