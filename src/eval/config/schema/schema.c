/* SPDX-License-Identifier: MIT */
#include "eval/config/schema/schema.h"
#include <math.h>
#include "eval/common/pattern.h"
#include "eval/config/schema/schema_formats.h"
#include "eval/config/schema/schema_sound.h"

#define DEPTH_MAX 64
#define PROBLEMS_MAX 20

struct checker {
	const json_t *root;
	struct fh_error *err;
	struct fh_buf problems;
	size_t count;
	unsigned depth;
	struct fh_buf path; /* path of the value that is being checked, such as "data/a/0" */
};

static int check(struct checker *c, const json_t *schema, const json_t *value);

static void FH_PRINTF(2, 3) problem(struct checker *c, const char *format, ...)
{
	if (c->count++ >= PROBLEMS_MAX)
		return;
	fh_buf_addf(&c->problems, "%s%s ", c->problems.n ? ", " : "", fh_buf_cstr(&c->path));
	va_list args;
	va_start(args, format);
	fh_buf_vaddf(&c->problems, format, args);
	va_end(args);
}

/* Whether value conforms, without recording problems: for anyOf, not, if … */
static int conforms(struct checker *c, const json_t *schema, const json_t *value, bool *ret)
{
	size_t n = c->problems.n, count = c->count;
	int r = check(c, schema, value);
	*ret = c->count == count;
	if (c->problems.p)
		fh_buf_truncate(&c->problems, n);
	c->count = count;
	return r;
}

static int check_below(struct checker *c, const json_t *schema, const json_t *value, const char *key)
{
	size_t n = c->path.n;
	fh_buf_addf(&c->path, "/%s", key);
	int r = check(c, schema, value);
	fh_buf_truncate(&c->path, n);
	return r;
}

static int wrong(struct checker *c, const char *word)
{
	return fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema: bad value of \"%s\"", word);
}

static bool is_whole(const json_t *v)
{
	return json_is_integer(v) || (json_is_real(v) && floor(json_real_value(v)) == json_real_value(v));
}

/* The names that "type" may have; a number of no kind of its own is JSON_REAL. */
static const struct type_name {
	const char *name;
	json_type type;
} type_names[] = {
	{ "object", JSON_OBJECT }, { "array", JSON_ARRAY },     { "string", JSON_STRING }, { "null", JSON_NULL },
	{ "boolean", JSON_TRUE },  { "integer", JSON_INTEGER }, { "number", JSON_REAL },
};

static const struct type_name *type_named(const char *name)
{
	for (size_t i = 0; name && i < FH_ARRAY_SIZE(type_names); i++)
		if (strcmp(name, type_names[i].name) == 0)
			return &type_names[i];
	return NULL;
}

static bool has_type(const json_t *v, json_type type)
{
	if (type == JSON_TRUE)
		return json_is_boolean(v);
	if (type == JSON_INTEGER)
		return is_whole(v);
	return type == JSON_REAL ? json_is_number(v) : json_typeof(v) == type;
}

static int check_type(struct checker *c, const json_t *word, const json_t *value)
{
	struct fh_buf names = FH_BUF_INIT(0);
	bool holds = false;
	for (size_t i = 0; i < (json_is_array(word) ? json_array_size(word) : 1); i++) {
		const struct type_name *named =
		    type_named(json_string_value(json_is_array(word) ? json_array_get(word, i) : word));
		if (!named) {
			fh_buf_release(&names);
			return wrong(c, "type");
		}
		holds = holds || has_type(value, named->type);
		fh_buf_addf(&names, "%s%s", names.n ? "," : "", named->name);
	}
	if (!holds)
		problem(c, "must be %s", fh_buf_cstr(&names));
	fh_buf_release(&names);
	return 0;
}

/* Whether two JSON values are equal, where 1 and 1.0 are. */
static bool same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

static int check_enum(struct checker *c, const json_t *word, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(word); i++)
		if (same(json_array_get(word, i), value))
			return 0;
	problem(c, "must be equal to one of the allowed values");
	return json_is_array(word) ? 0 : wrong(c, "enum");
}

static int check_const(struct checker *c, const json_t *word, const json_t *value)
{
	if (!same(word, value))
		problem(c, "must be equal to constant");
	return 0;
}

static int matches(struct checker *c, const char *pattern, const char *text, size_t n, bool *ret)
{
	fh_auto_pattern pcre2_code *re = fh_schema_pattern(pattern);
	if (!re)
		return wrong(c, "pattern");
	*ret = fh_pattern_found(re, (struct fh_str){ text, n });
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- numbers */

static int check_number_word(struct checker *c, const char *name, const json_t *word, const json_t *value)
{
	if (!json_is_number(word))
		return wrong(c, name);
	if (!json_is_number(value))
		return 0;
	double n = json_number_value(value), w = json_number_value(word);
	if (strcmp(name, "minimum") == 0 && n < w)
		problem(c, "must be >= %g", w);
	else if (strcmp(name, "maximum") == 0 && n > w)
		problem(c, "must be <= %g", w);
	else if (strcmp(name, "exclusiveMinimum") == 0 && n <= w)
		problem(c, "must be > %g", w);
	else if (strcmp(name, "exclusiveMaximum") == 0 && n >= w)
		problem(c, "must be < %g", w);
	else if (strcmp(name, "multipleOf") == 0 && (w <= 0 || floor(n / w) != n / w))
		problem(c, "must be multiple of %g", w);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- sizes */

static size_t code_points(const json_t *string)
{
	size_t n = 0;
	const char *s = json_string_value(string);
	for (size_t i = 0; i < json_string_length(string); i++)
		n += ((unsigned char)s[i] & 0xC0) != 0x80;
	return n;
}

static int check_size_word(struct checker *c, const char *name, const json_t *word, const json_t *value)
{
	static const struct {
		const char *name, *things;
		json_type type;
		bool minimum;
	} words[] = {
		{ "minLength", "characters", JSON_STRING, true },
		{ "maxLength", "characters", JSON_STRING, false },
		{ "minItems", "items", JSON_ARRAY, true },
		{ "maxItems", "items", JSON_ARRAY, false },
		{ "minProperties", "properties", JSON_OBJECT, true },
		{ "maxProperties", "properties", JSON_OBJECT, false },
	};
	if (!is_whole(word))
		return wrong(c, name);
	double w = json_number_value(word);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].name, name) != 0 || json_typeof(value) != words[i].type)
			continue;
		size_t n = json_is_string(value)  ? code_points(value)
		           : json_is_array(value) ? json_array_size(value)
		                                  : json_object_size(value);
		if (words[i].minimum ? (double)n < w : (double)n > w)
			problem(c, "must NOT have %s than %g %s", words[i].minimum ? "fewer" : "more", w, words[i].things);
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- objects */

static int check_required(struct checker *c, const json_t *word, const json_t *value)
{
	for (size_t i = 0; json_is_object(value) && i < json_array_size(word); i++) {
		const char *key = json_string_value(json_array_get(word, i));
		if (key && !json_object_get(value, key))
			problem(c, "must have required property '%s'", key);
	}
	return json_is_array(word) ? 0 : wrong(c, "required");
}

static int check_properties(struct checker *c, const json_t *schema, const json_t *value)
{
	const json_t *own = json_object_get(schema, "properties"), *patterns = json_object_get(schema, "patternProperties");
	const json_t *others = json_object_get(schema, "additionalProperties"), *sub;
	const json_t *names = json_object_get(schema, "propertyNames");
	const char *key, *pattern;
	json_t *v, *p;
	int r = 0;
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		bool known = (sub = json_object_get(own, key)) != NULL;
		if (known && (r = check_below(c, sub, v, key)) < 0)
			return r;
		json_object_foreach((json_t *)(uintptr_t)patterns, pattern, p)
		{
			bool hit = false;
			if ((r = matches(c, pattern, key, strlen(key), &hit)) < 0)
				return r;
			known = known || hit;
			if (hit && (r = check_below(c, p, v, key)) < 0)
				return r;
		}
		if (names) {
			fh_auto_json json_t *name = json_string(key);
			if ((r = check(c, names, name)) < 0)
				return r;
		}
		if (known || !others)
			continue;
		if (json_is_false(others))
			problem(c, "must NOT have additional properties");
		else if ((r = check_below(c, others, v, key)) < 0)
			return r;
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- arrays */

static int check_items(struct checker *c, const json_t *schema, const json_t *value)
{
	const json_t *items = json_object_get(schema, "items"), *others = json_object_get(schema, "additionalItems");
	const json_t *contains = json_object_get(schema, "contains");
	size_t found = 0;
	for (size_t i = 0; i < json_array_size(value); i++) {
		char index[24];
		snprintf(index, sizeof(index), "%zu", i);
		const json_t *v = json_array_get(value, i);
		const json_t *sub = !json_is_array(items)        ? items
		                    : i < json_array_size(items) ? json_array_get(items, i)
		                                                 : others;
		int r = sub ? check_below(c, sub, v, index) : 0;
		if (r < 0)
			return r;
		bool hit = false;
		if (contains && (r = conforms(c, contains, v, &hit)) < 0)
			return r;
		found += hit;
		for (size_t j = 0; json_is_true(json_object_get(schema, "uniqueItems")) && j < i; j++)
			if (same(json_array_get(value, j), v))
				problem(c, "must NOT have duplicate items (items ## %zu and %zu are identical)", j, i);
	}
	if (contains && found == 0)
		problem(c, "must contain at least 1 valid item(s)");
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- combinations */

static int check_combination(struct checker *c, const char *name, const json_t *word, const json_t *value)
{
	if (!json_is_array(word))
		return wrong(c, name);
	size_t hits = 0;
	for (size_t i = 0; i < json_array_size(word); i++) {
		bool hit = false;
		const json_t *sub = json_array_get(word, i);
		int r = name[0] == 'a' && name[1] == 'l' ? check(c, sub, value) : conforms(c, sub, value, &hit);
		if (r < 0)
			return r;
		hits += hit;
	}
	if (strcmp(name, "anyOf") == 0 && hits == 0)
		problem(c, "must match a schema in anyOf");
	else if (strcmp(name, "oneOf") == 0 && hits != 1)
		problem(c, "must match exactly one schema in oneOf");
	return 0;
}

static int check_if(struct checker *c, const json_t *schema, const json_t *value)
{
	bool hit;
	int r = conforms(c, json_object_get(schema, "if"), value, &hit);
	const json_t *next = json_object_get(schema, hit ? "then" : "else");
	return r < 0 || !next ? r : check(c, next, value);
}

static int check_ref(struct checker *c, const char *ref, const json_t *value)
{
	if (!ref || *ref != '#')
		return fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema: $ref \"%s\" leaves the schema", ref ? ref : "");
	const json_t *target = c->root;
	fh_auto_free char *path = fh_xstrdup(ref + 1);
	char *save = NULL;
	for (char *key = strtok_r(path, "/", &save); key && target; key = strtok_r(NULL, "/", &save))
		target = json_is_array(target) ? json_array_get(target, strtoul(key, NULL, 10)) : json_object_get(target, key);
	return target ? check(c, target, value) : fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema: no such $ref: %s", ref);
}

static int check_format(struct checker *c, const json_t *word, const json_t *value)
{
	const char *format = json_string_value(word);
	bool holds = true;
	if (!format)
		return wrong(c, "format");
	if (!fh_schema_format(format, value, &holds))
		return fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema: unknown format \"%s\"", format);
	if (!holds)
		problem(c, "must match format \"%s\"", format);
	return 0;
}

/* {property: a schema for the whole object, or the names that it needs beside it} */
static int check_dependencies(struct checker *c, const json_t *word, const json_t *value)
{
	const char *key;
	json_t *needs;
	int r = json_is_object(word) ? 0 : wrong(c, "dependencies");
	json_object_foreach((json_t *)(uintptr_t)word, key, needs)
	{
		if (r < 0 || !json_object_get(value, key))
			continue;
		r = json_is_array(needs) ? check_required(c, needs, value) : check(c, needs, value);
	}
	return r;
}

static int check_word(struct checker *c, const json_t *schema, const char *name, const json_t *word,
                      const json_t *value)
{
	static const char *const silent[] = {
		"$schema", "$id",         "id",        "$defs",      "definitions",     "$comment",
		"title",   "description", "default",   "examples",   "nullable",        "then",
		"else",    "readOnly",    "writeOnly", "deprecated", "contentEncoding", "contentMediaType"
	};
	static const char *const objects[] = { "properties", "patternProperties", "additionalProperties", "propertyNames" };
	static const char *const arrays[] = { "items", "additionalItems", "contains", "uniqueItems" };
	static const char *const numbers[] = { "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf" };
	static const char *const sizes[] = { "minLength", "maxLength",     "minItems",
		                                 "maxItems",  "minProperties", "maxProperties" };
#define ONE_OF(list)                                                                                                   \
	__extension__({                                                                                                    \
		bool is_ = false;                                                                                              \
		for (size_t i_ = 0; i_ < FH_ARRAY_SIZE(list); i_++)                                                            \
			is_ = is_ || strcmp(name, list[i_]) == 0;                                                                  \
		is_;                                                                                                           \
	})
	if (ONE_OF(silent) || ONE_OF(objects) || ONE_OF(arrays))
		return 0; /* check() checks their members */
	if (ONE_OF(numbers))
		return check_number_word(c, name, word, value);
	if (ONE_OF(sizes))
		return check_size_word(c, name, word, value);
#undef ONE_OF
	if (strcmp(name, "type") == 0)
		return json_is_null(value) && json_is_true(json_object_get(schema, "nullable")) ? 0
		                                                                                : check_type(c, word, value);
	if (strcmp(name, "enum") == 0)
		return check_enum(c, word, value);
	if (strcmp(name, "const") == 0)
		return check_const(c, word, value);
	if (strcmp(name, "format") == 0)
		return check_format(c, word, value);
	if (strcmp(name, "dependencies") == 0)
		return check_dependencies(c, word, value);
	if (strcmp(name, "required") == 0)
		return check_required(c, word, value);
	if (strcmp(name, "allOf") == 0 || strcmp(name, "anyOf") == 0 || strcmp(name, "oneOf") == 0)
		return check_combination(c, name, word, value);
	if (strcmp(name, "if") == 0)
		return check_if(c, schema, value);
	if (strcmp(name, "$ref") == 0)
		return check_ref(c, json_string_value(word), value);
	bool hit = true;
	int r = 0;
	if (strcmp(name, "not") == 0) {
		if ((r = conforms(c, word, value, &hit)) == 0 && hit)
			problem(c, "must NOT be valid");
		return r;
	}
	if (strcmp(name, "pattern") == 0) {
		if (json_is_string(value))
			r = matches(c, json_is_string(word) ? json_string_value(word) : "(", json_string_value(value),
			            json_string_length(value), &hit);
		if (!hit)
			problem(c, "must match pattern \"%s\"", json_string_value(word));
		return r;
	}
	return fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema: unknown keyword: \"%s\"", name);
}

static int check(struct checker *c, const json_t *schema, const json_t *value)
{
	if (json_is_boolean(schema)) {
		if (json_is_false(schema))
			problem(c, "boolean schema is false");
		return 0;
	}
	if (!json_is_object(schema))
		return fh_error_set(c->err, FH_E_ARGUMENT, "JSON schema must be object or boolean");
	if (++c->depth > DEPTH_MAX)
		return fh_error_set(c->err, FH_E_LIMIT, "JSON schema is nested more than %d levels deep", DEPTH_MAX);
	const char *name;
	json_t *word;
	int r = 0;
	json_object_foreach((json_t *)(uintptr_t)schema, name,
	                    word) if ((r = check_word(c, schema, name, word, value)) < 0) return r;
	if (json_is_object(value))
		r = check_properties(c, schema, value);
	else if (json_is_array(value))
		r = check_items(c, schema, value);
	c->depth--;
	return r;
}

int fh_schema_check(const json_t *schema, const json_t *value, char **ret_problems, struct fh_error *err)
{
	struct checker c = { .root = schema, .err = err };
	fh_buf_adds(&c.path, "data");
	int r = fh_schema_sound(schema, err);
	if (r == 0)
		r = check(&c, schema, value);
	if (r == 0)
		*ret_problems = c.count ? fh_buf_take(&c.problems, NULL) : NULL;
	fh_buf_release(&c.problems);
	fh_buf_release(&c.path);
	return r;
}
