/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"
#include "eval/grade.h"
#include "eval/schema.h"

/* The schema may be an object, or a string that holds one as JSON. */
static int schema_of(const struct fh_assertion_call *call, json_t **ret, struct fh_error *err)
{
	if (!call->value || json_is_null(call->value))
		return 0;
	if (json_is_object(call->value) || json_is_boolean(call->value)) {
		*ret = json_incref((json_t *)(uintptr_t)call->value);
		return 0;
	}
	if (json_is_string(call->value)) {
		struct fh_str text = { json_string_value(call->value), json_string_length(call->value) };
		*ret = fh_json_parse(text, "schema", err);
		if (*ret)
			return 0;
		return fh_error_wrap(err, "\"%s\": the value is no JSON schema", call->kind->name);
	}
	return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion must have a string or object value", call->kind->name);
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *schema = NULL;
	int r = schema_of(call, &schema, err);
	if (r < 0)
		return r;
	fh_auto_json json_t *value = fh_json_parse(call->output_text, NULL, NULL);
	if (value && schema) {
		fh_auto_free char *problems = NULL;
		r = fh_schema_check(schema, value, &problems, err);
		if (r < 0)
			return r;
		if (problems)
			return fh_grade_set(ret, call, false, "JSON does not conform to the provided schema. Errors: %s", problems);
	}
	return fh_grade_set(ret, call, value != NULL, "Expected output to %sbe valid JSON", fh_call_not(call));
}

const struct fh_assertion fh_assertion_is_json = { .name = "is-json", .check = check };
