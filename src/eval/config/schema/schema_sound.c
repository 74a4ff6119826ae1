/* SPDX-License-Identifier: MIT */
#include "eval/config/schema/schema_sound.h"
#include <math.h>
#include "eval/config/schema/schema_formats.h"

#define DEPTH_MAX 100

enum shape {
	ANYTHING,
	TEXT,
	BOOLEAN,
	NUMBER,
	COUNT,
	VALUES,
	TEXTS,
	TYPES,
	PATTERN,
	FORMAT,
	SCHEMA,
	SCHEMAS,
	ITEMS,
	MEMBERS
};

static const struct {
	const char *name;
	enum shape shape;
} words[] = {
	{ "$schema", TEXT },
	{ "$id", TEXT },
	{ "id", ANYTHING },
	{ "$ref", TEXT },
	{ "$defs", ANYTHING },
	{ "definitions", ANYTHING },
	{ "$comment", TEXT },
	{ "title", TEXT },
	{ "description", TEXT },
	{ "default", ANYTHING },
	{ "examples", ANYTHING },
	{ "nullable", BOOLEAN },
	{ "readOnly", BOOLEAN },
	{ "writeOnly", BOOLEAN },
	{ "deprecated", BOOLEAN },
	{ "contentEncoding", TEXT },
	{ "contentMediaType", TEXT },
	{ "type", TYPES },
	{ "enum", VALUES },
	{ "const", ANYTHING },
	{ "format", FORMAT },
	{ "pattern", PATTERN },
	{ "required", TEXTS },
	{ "minimum", NUMBER },
	{ "maximum", NUMBER },
	{ "exclusiveMinimum", NUMBER },
	{ "exclusiveMaximum", NUMBER },
	{ "multipleOf", NUMBER },
	{ "minLength", COUNT },
	{ "maxLength", COUNT },
	{ "minItems", COUNT },
	{ "maxItems", COUNT },
	{ "minProperties", COUNT },
	{ "maxProperties", COUNT },
	{ "uniqueItems", BOOLEAN },
	{ "properties", MEMBERS },
	{ "patternProperties", MEMBERS },
	{ "dependencies", MEMBERS },
	{ "additionalProperties", SCHEMA },
	{ "propertyNames", SCHEMA },
	{ "additionalItems", SCHEMA },
	{ "contains", SCHEMA },
	{ "not", SCHEMA },
	{ "if", SCHEMA },
	{ "then", SCHEMA },
	{ "else", SCHEMA },
	{ "items", ITEMS },
	{ "allOf", SCHEMAS },
	{ "anyOf", SCHEMAS },
	{ "oneOf", SCHEMAS },
};

static int sound(const json_t *schema, unsigned depth, struct fh_error *err);

pcre2_code *fh_schema_pattern(const char *pattern)
{
	int code;
	PCRE2_SIZE offset;
	return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
	                     PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
	                     NULL);
}

static bool is_text(const json_t *word)
{
	return json_is_string(word);
}

static bool is_boolean(const json_t *word)
{
	return json_is_boolean(word);
}

static bool is_number(const json_t *word)
{
	return json_is_number(word);
}

static bool is_count(const json_t *word)
{
	double n = json_number_value(word);
	return json_is_number(word) && n >= 0 && n == floor(n);
}

static bool is_values(const json_t *word)
{
	return json_array_size(word) > 0;
}

static bool is_pattern(const json_t *word)
{
	const char *text = json_string_value(word);
	fh_auto_pattern pcre2_code *code = text ? fh_schema_pattern(text) : NULL;
	return code;
}

static bool is_type(const json_t *word)
{
	static const char *const types[] = { "object", "array", "string", "null", "boolean", "integer", "number" };
	const char *name = json_string_value(word);
	bool known = false;
	for (size_t i = 0; name && i < FH_ARRAY_SIZE(types); i++)
		known = known || strcmp(name, types[i]) == 0;
	return known;
}

static bool is_list_of(const json_t *word, bool (*is)(const json_t *))
{
	bool all = json_is_array(word);
	for (size_t i = 0; i < json_array_size(word); i++)
		all = all && is(json_array_get(word, i));
	return all;
}

static bool is_texts(const json_t *word)
{
	return is_list_of(word, is_text);
}

static bool is_types(const json_t *word)
{
	return is_type(word) || (is_values(word) && is_list_of(word, is_type));
}

/* Whether a word that holds no schema has a value of its shape. */
static bool fits(enum shape shape, const json_t *word)
{
	static bool (*const is[])(const json_t *) = {
		[TEXT] = is_text,     [BOOLEAN] = is_boolean, [NUMBER] = is_number, [COUNT] = is_count,
		[VALUES] = is_values, [TEXTS] = is_texts,     [TYPES] = is_types,   [PATTERN] = is_pattern,
	};
	return shape >= FH_ARRAY_SIZE(is) || !is[shape] || is[shape](word);
}

static int sound_list(const json_t *list, unsigned depth, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++)
		r = sound(json_array_get(list, i), depth, err);
	return r;
}

static int sound_members(const char *name, const json_t *members, unsigned depth, struct fh_error *err)
{
	const char *key;
	json_t *member;
	int r = 0;
	json_object_foreach((json_t *)(uintptr_t)members, key, member)
	{
		bool names = strcmp(name, "dependencies") == 0 && is_texts(member);
		fh_auto_json json_t *pattern = json_string(key);
		if (strcmp(name, "patternProperties") == 0 && !is_pattern(pattern))
			return fh_error_set(err, FH_E_ARGUMENT, "JSON schema: bad pattern \"%s\"", key);
		if (!names && (r = sound(member, depth, err)) < 0)
			return r;
	}
	return 0;
}

static int sound_word(const char *name, enum shape shape, const json_t *word, unsigned depth, struct fh_error *err)
{
	bool holds = true;
	const char *format = shape == FORMAT ? json_string_value(word) : NULL;
	fh_auto_json json_t *any = format ? json_string("") : NULL;
	if (format && !fh_schema_format(format, any, &holds))
		return fh_error_set(err, FH_E_ARGUMENT, "JSON schema: unknown format \"%s\"", format);
	if (shape == SCHEMA || (shape == ITEMS && !json_is_array(word)))
		return sound(word, depth, err);
	if (shape == ITEMS || (shape == SCHEMAS && json_array_size(word) > 0))
		return sound_list(word, depth, err);
	if (shape == MEMBERS && json_is_object(word))
		return sound_members(name, word, depth, err);
	if (shape == SCHEMAS || shape == MEMBERS || (shape == FORMAT && !format) || !fits(shape, word))
		return fh_error_set(err, FH_E_ARGUMENT, "JSON schema: bad value of \"%s\"", name);
	return 0;
}

static int sound(const json_t *schema, unsigned depth, struct fh_error *err)
{
	const char *name;
	json_t *word;
	int r = 0;
	if (json_is_boolean(schema))
		return 0;
	if (!json_is_object(schema))
		return fh_error_set(err, FH_E_ARGUMENT, "JSON schema must be object or boolean");
	if (depth > DEPTH_MAX)
		return fh_error_set(err, FH_E_LIMIT, "JSON schema is nested more than %d levels deep", DEPTH_MAX);
	json_object_foreach((json_t *)(uintptr_t)schema, name, word)
	{
		size_t i = 0;
		while (i < FH_ARRAY_SIZE(words) && strcmp(words[i].name, name) != 0)
			i++;
		if (i == FH_ARRAY_SIZE(words))
			return fh_error_set(err, FH_E_ARGUMENT, "JSON schema: unknown keyword: \"%s\"", name);
		if ((r = sound_word(name, words[i].shape, word, depth + 1, err)) < 0)
			return r;
	}
	return 0;
}

int fh_schema_sound(const json_t *schema, struct fh_error *err)
{
	return sound(schema, 0, err);
}
