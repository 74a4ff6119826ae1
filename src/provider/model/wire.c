/* SPDX-License-Identifier: MIT */
#include "provider/model/wire.h"

#include <ctype.h>
#include "base/text/parse.h"
#include "provider/type.h"

#define FH_WIRE_ITEMS_MAX 1000

int64_t fh_wire_count(const json_t *object, const char *key)
{
	double n = fh_json_num(object, key, -1);
	return n >= 0 && n <= FH_TOKENS_MAX ? (int64_t)n : -1;
}

char *fh_wire_finish(const char *reason)
{
	static const char *const words[][2] = {
		{ "end_turn", "stop" },
		{ "stop_sequence", "stop" },
		{ "max_tokens", "length" },
		{ "tool_use", "tool_calls" },
		{ "refusal", "content_filter" },
		{ "function_call", "tool_calls" },
		{ "model_context_window_exceeded", "length" },
	};
	if (!reason || !*reason)
		return NULL;
	char *word = fh_xstrdup(reason);
	for (char *p = word; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		if (fh_streq(word, words[i][0])) {
			free(word);
			return fh_xstrdup(words[i][1]);
		}
	}
	return word;
}

void fh_wire_append(json_t *object, const char *key, const json_t *text)
{
	const json_t *old = json_object_get(object, key);
	if (!json_is_string(text))
		return;
	size_t had = json_string_length(old), more = json_string_length(text);
	fh_auto_free char *both = fh_xcalloc(had + more + 1, 1);
	if (had)
		memcpy(both, json_string_value(old), had);
	memcpy(both + had, json_string_value(text), more);
	json_object_set_new(object, key, json_stringn(both, had + more));
}

json_t *fh_wire_object(json_t *object, const char *key)
{
	json_t *found = json_object_get(object, key);
	if (!json_is_object(found))
		json_object_set_new(object, key, found = json_object());
	return found;
}

json_t *fh_wire_array(json_t *object, const char *key)
{
	json_t *found = json_object_get(object, key);
	if (!json_is_array(found))
		json_object_set_new(object, key, found = json_array());
	return found;
}

json_t *fh_wire_item(json_t *array, size_t i)
{
	if (i >= FH_WIRE_ITEMS_MAX)
		return NULL;
	while (json_array_size(array) <= i)
		json_array_append_new(array, json_object());
	json_t *item = json_array_get(array, i);
	if (!json_is_object(item))
		json_array_set_new(array, i, item = json_object());
	return item;
}

void fh_wire_set_number(json_t *body, const char *name, const json_t *config, const char *key, const char *env,
                        double fallback, bool integer)
{
	json_t *given = json_object_get(config, key);
	double n = fallback;
	if (given) {
		if (!json_is_null(given))
			json_object_set(body, name, given);
		return;
	}
	if (env && fh_parse_double(env, -1e9, 1e9, &n, NULL))
		n = fallback;
	bool whole = integer || n == (double)(int64_t)n;
	json_object_set_new(body, name, whole ? json_integer((json_int_t)n) : json_real(n));
}

void fh_wire_reasoning(struct fh_provider_response *ret, const char *text, size_t n)
{
	fh_auto_json json_t *thought = n ? fh_json_bytes((struct fh_str){ text, n }) : NULL;
	fh_wire_note(ret, "reasoning", thought);
}

void fh_wire_note(struct fh_provider_response *ret, const char *name, json_t *value)
{
	if (!value)
		return;
	ret->metadata = ret->metadata ? ret->metadata : json_object();
	json_object_set(ret->metadata, name, value);
}

void fh_wire_flag(struct fh_provider_response *ret, const char *why)
{
	ret->extra = ret->extra ? ret->extra : json_object();
	json_object_set_new(ret->extra, "guardrails", json_pack("{s:b, s:s*}", "flagged", 1, "reason", why));
}

void fh_wire_vector(const json_t *vector, struct fh_provider_response *ret)
{
	bool numbers = json_array_size(vector) > 0;
	for (size_t i = 0; i < json_array_size(vector) && numbers; i++)
		numbers = json_is_number(json_array_get(vector, i));
	if (numbers)
		ret->output = json_incref((json_t *)(uintptr_t)vector);
	else
		fh_response_fail(ret, "API error: the server's answer holds no embedding");
}
