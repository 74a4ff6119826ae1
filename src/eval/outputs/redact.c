/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include "eval/outputs/row.h"
#include <unistd.h>
#include "base/text/secret.h"

/* What no row may show. */
struct fh_output_secrets {
	const char **values;
	size_t count, capacity;
};

struct fh_output_secrets *fh_output_secrets_find(void)
{
	struct fh_output_secrets *s = fh_xcalloc(1, sizeof(*s));
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || strlen(equals + 1) < FH_SECRET_MIN)
			continue;
		fh_auto_free char *name = fh_xstrndup(*e, (size_t)(equals - *e));
		if (fh_secret_name(name))
			FH_PUSH(s->values, s->count, s->capacity) = equals + 1;
	}
	return s;
}

void fh_output_secrets_free(struct fh_output_secrets *s)
{
	if (s)
		free(s->values);
	free(s);
}

static bool has_secret(const struct fh_output_secrets *s, const json_t *text)
{
	if (json_string_length(text) < FH_SECRET_MIN)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (strstr(json_string_value(text), s->values[i]))
			return true;
	return false;
}

/* config.auth of an HTTP provider: {type: api_key, keyName, value} */
static bool is_key_of_auth(const json_t *object, const char *key)
{
	return fh_streq(key, "value") && fh_streq(fh_json_str(object, "type", ""), "api_key");
}

/* Returns the value itself or, where something within has to go, a copy that shares all the rest. New reference. */
static json_t *without(const struct fh_output_secrets *s, json_t *value)
{
	json_t *changed = NULL, *v;
	const char *key;
	if (json_is_string(value) && has_secret(s, value))
		return json_string("[REDACTED]");
	for (size_t i = 0; i < json_array_size(value); i++) {
		fh_auto_json json_t *item = without(s, json_array_get(value, i));
		if (item == json_array_get(value, i))
			continue;
		if (!changed)
			changed = json_copy(value);
		json_array_set(changed, i, item);
	}
	json_object_foreach(value, key, v)
	{
		bool named = json_string_length(v) > 0 && (fh_secret_name(key) || is_key_of_auth(value, key));
		fh_auto_json json_t *member = named ? json_string("[REDACTED]") : without(s, v);
		if (member == v)
			continue;
		if (!changed)
			changed = json_copy(value);
		json_object_set(changed, key, member);
	}
	return changed ? changed : json_incref(value);
}

json_t *fh_output_redact(const json_t *value)
{
	struct fh_output_secrets *secrets = fh_output_secrets_find();
	json_t *clean = without(secrets, (json_t *)(uintptr_t)value);
	fh_output_secrets_free(secrets);
	return clean;
}

/* Variables are what a test is about, and what it is found by: their names say nothing. */
static json_t *without_values(const struct fh_output_secrets *s, json_t *value)
{
	json_t *v;
	const char *key;
	if (json_is_string(value))
		return has_secret(s, value) ? json_string("[REDACTED]") : json_incref(value);
	if (s->count == 0 || !(json_is_object(value) || json_is_array(value)))
		return json_incref(value);
	json_t *copy = json_copy(value);
	for (size_t i = 0; i < json_array_size(value); i++)
		json_array_set_new(copy, i, without_values(s, json_array_get(value, i)));
	json_object_foreach(value, key, v) json_object_set_new(copy, key, without_values(s, v));
	return copy;
}

json_t *fh_output_redact_test(const struct fh_output_secrets *s, const json_t *test)
{
	json_t *clean = NULL, *v;
	const char *key;
	json_object_foreach((json_t *)(uintptr_t)test, key, v)
	{
		fh_auto_json json_t *member = fh_streq(key, "vars") ? without_values(s, v) : without(s, v);
		if (member == v)
			continue;
		if (!clean)
			clean = json_copy((json_t *)(uintptr_t)test);
		json_object_set(clean, key, member);
	}
	return clean ? clean : json_incref((json_t *)(uintptr_t)test);
}

/* Only what the config says may hold a secret in a grade: its assertions. */
json_t *fh_output_redact_grade(const struct fh_output_secrets *s, const json_t *grade)
{
	const json_t *parts = json_object_get(grade, "componentResults");
	json_t *assertion = json_object_get(grade, "assertion"), *clean = NULL, *list = NULL;
	fh_auto_json json_t *stated = assertion ? without(s, assertion) : NULL;
	if (stated != assertion) {
		clean = json_copy((json_t *)(uintptr_t)grade);
		json_object_set(clean, "assertion", stated);
	}
	for (size_t i = 0; i < json_array_size(parts); i++) {
		fh_auto_json json_t *part = fh_output_redact_grade(s, json_array_get(parts, i));
		if (part == json_array_get(parts, i))
			continue;
		if (!list)
			list = json_copy((json_t *)(uintptr_t)parts);
		json_array_set(list, i, part);
	}
	if (list && !clean)
		clean = json_copy((json_t *)(uintptr_t)grade);
	if (list)
		json_object_set_new(clean, "componentResults", list);
	return clean ? clean : json_incref((json_t *)(uintptr_t)grade);
}
