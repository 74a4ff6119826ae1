/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <unistd.h>
#include "base/secret.h"

#define SECRET_MIN 8 /* shorter values could be common words */

static bool secret_value(const char *value)
{
	if (strlen(value) < SECRET_MIN)
		return false;
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || strlen(equals + 1) < SECRET_MIN || !strstr(value, equals + 1))
			continue;
		fh_auto_free char *name = fh_xstrndup(*e, (size_t)(equals - *e));
		if (fh_secret_name(name))
			return true;
	}
	return false;
}

json_t *fh_output_redact(const json_t *value)
{
	if (json_is_array(value)) {
		json_t *list = json_array();
		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(list, fh_output_redact(json_array_get(value, i)));
		return list;
	}
	if (json_is_string(value) && secret_value(json_string_value(value)))
		return json_string("[REDACTED]");
	if (!json_is_object(value))
		return json_incref((json_t *)(uintptr_t)value);
	json_t *object = json_object();
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)value, key, v) json_object_set_new(
	    object, key,
	    json_is_string(v) && json_string_length(v) > 0 && fh_secret_name(key) ? json_string("[REDACTED]")
	                                                                          : fh_output_redact(v));
	return object;
}
