/* SPDX-License-Identifier: MIT */
#include "eval/outputs/output.h"
#include <ctype.h>
#include <unistd.h>

#define SECRET_MIN 8 /* shorter values are words that stand elsewhere too */

/* "apiKey", "OPENAI_API_KEY", "password", "client_secret", "authToken" …, but not "max_tokens" or "keyword". */
static bool secret_name(const char *name)
{
	static const char *const whole[] = { "key", "cookie", "bearer" };
	static const char *const endings[] = { "apikey",        "token",      "secret",     "password",
		                                   "passwd",        "accesskey",  "privatekey", "secretkey",
		                                   "authorization", "passphrase", "credential", "credentials" };
	char plain[64];
	size_t n = 0;
	for (; *name && n < sizeof(plain) - 1; name++)
		if (isalnum((unsigned char)*name))
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
	for (size_t i = 0; i < FH_ARRAY_SIZE(whole); i++)
		if (strcmp(plain, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < FH_ARRAY_SIZE(endings); i++) {
		size_t m = strlen(endings[i]);
		if (n >= m && strcmp(plain + n - m, endings[i]) == 0)
			return true;
	}
	return false;
}

static bool secret_value(const char *value)
{
	if (strlen(value) < SECRET_MIN)
		return false;
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || strlen(equals + 1) < SECRET_MIN || !strstr(value, equals + 1))
			continue;
		fh_auto_free char *name = fh_xstrndup(*e, (size_t)(equals - *e));
		if (secret_name(name))
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
	    json_is_string(v) && json_string_length(v) > 0 && secret_name(key) ? json_string("[REDACTED]")
	                                                                       : fh_output_redact(v));
	return object;
}
