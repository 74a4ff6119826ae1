/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <unistd.h>
#include "base/text/secret.h"

/* Values of the environment's variables whose names tell that they are secrets. */
struct secrets {
	const char **values;
	size_t count, capacity;
};

static void find_secrets(struct secrets *s)
{
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || strlen(equals + 1) < FH_SECRET_MIN)
			continue;
		fh_auto_free char *name = fh_xstrndup(*e, (size_t)(equals - *e));
		if (fh_secret_name(name))
			FH_PUSH(s->values, s->count, s->capacity) = equals + 1;
	}
}

static bool has_secret(const struct secrets *s, const json_t *text)
{
	if (json_string_length(text) < FH_SECRET_MIN)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (strstr(json_string_value(text), s->values[i]))
			return true;
	return false;
}

/* Returns the value itself or, where something within has to go, a copy that shares all the rest. New reference. */
static json_t *without(const struct secrets *s, json_t *value)
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
	/* config.auth of an HTTP provider: {type: api_key, keyName, value} */
	bool is_key = fh_streq(fh_json_str(value, "type", ""), "api_key");
	json_object_foreach(value, key, v)
	{
		bool named = json_is_string(v) && json_string_length(v) > 0 &&
		             (fh_secret_name(key) || (is_key && fh_streq(key, "value")));
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
	struct secrets secrets = { 0 };
	find_secrets(&secrets);
	json_t *clean = without(&secrets, (json_t *)(uintptr_t)value);
	free(secrets.values);
	return clean;
}
