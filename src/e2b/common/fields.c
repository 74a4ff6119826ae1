/* SPDX-License-Identifier: MIT */
#include "e2b/common/fields.h"

enum { LEVELS_MAX = 8 };

static bool is_text(const json_t *value)
{
	return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static bool is_number(const json_t *value, json_int_t *ret)
{
	const char *text = json_is_string(value) ? json_string_value(value) : NULL;
	size_t digits = text ? strspn(text + (*text == '-'), "0123456789") : 0;
	double real = json_is_real(value) ? json_real_value(value) : 0.5;
	*ret = json_integer_value(value);
	if (text && digits > 0 && digits < 18 && !text[digits + (*text == '-')]) {
		*ret = strtoll(text, NULL, 10);
		return true;
	}
	return json_is_integer(value) || (real > -1e15 && real < 1e15 && real == (double)(int64_t)real);
}

static bool are_texts(const json_t *value)
{
	const json_t *item;
	const char *name;
	size_t i;
	json_array_foreach(value, i, item) if (!is_text(item)) return false;
	json_object_foreach((json_t *)(uintptr_t)value, name, item) if (!is_text(item)) return false;
	return true;
}

enum type { TEXT, NUMBER, BOOL, TEXTS, NAMED_TEXTS };
static const struct {
	const char *name;
	enum type type;
} members[] = {
	{ "path", TEXT },    { "source", TEXT },      { "destination", TEXT },  { "cmd", TEXT },
	{ "cwd", TEXT },     { "tag", TEXT },         { "watcherId", TEXT },    { "pid", NUMBER },
	{ "depth", NUMBER }, { "cols", NUMBER },      { "rows", NUMBER },       { "recursive", BOOL },
	{ "args", TEXTS },   { "envs", NAMED_TEXTS }, { "includeEntry", BOOL },
};
static const char *const wanted[] = { [TEXT] = "a text without a zero byte",
	                                  [NUMBER] = "a whole number",
	                                  [BOOL] = "true or false",
	                                  [TEXTS] = "a list of texts without a zero byte",
	                                  [NAMED_TEXTS] = "an object of texts without a zero byte" };

static bool fits(const json_t *value, enum type type)
{
	json_int_t number;
	switch (type) {
	case TEXT:
		return is_text(value);
	case NUMBER:
		return is_number(value, &number);
	case BOOL:
		return json_is_boolean(value);
	case TEXTS:
		return json_is_array(value) && are_texts(value);
	case NAMED_TEXTS:
		return json_is_object(value) && are_texts(value);
	}
	return false;
}

/* The type of a member; false: it is unknown here. */
static bool find(const char *name, enum type *ret)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(members); i++)
		if (strcmp(name, members[i].name) == 0) {
			*ret = members[i].type;
			return true;
		}
	return false;
}

static int check(json_t *message, int level, struct fh_connect_error *e)
{
	const char *name;
	json_t *value;
	int r = 0;
	json_object_foreach(message, name, value)
	{
		enum type type;
		json_int_t number;
		if (json_is_null(value))
			continue;
		if (!find(name, &type)) {
			if (json_is_object(value) && level < LEVELS_MAX && (r = check(value, level + 1, e)) < 0)
				return r;
			continue;
		}
		if (!fits(value, type))
			return fh_connect_fail(e, FH_CONNECT_INVALID_ARGUMENT, "%s must be %s", name, wanted[type]);
		if (type == NUMBER && json_is_string(value) && is_number(value, &number))
			json_object_set_new(message, name, json_integer(number));
	}
	return r;
}

int fh_fields_check(json_t *message, struct fh_connect_error *e)
{
	return check(message, 0, e);
}

bool fh_fields_have_zero(const json_t *value, const char *except)
{
	const char *name;
	json_t *one;
	size_t i;
	if (json_is_string(value))
		return !is_text(value);
	json_array_foreach(value, i, one)
	{
		if (fh_fields_have_zero(one, NULL))
			return true;
	}
	json_object_foreach((json_t *)(uintptr_t)value, name, one)
	{
		if (!fh_streq(name, except) && fh_fields_have_zero(one, NULL))
			return true;
	}
	return false;
}
