/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/json_reader.h"

#include <stdio.h>

#include "base/text/nearest.h"
#include "proto/plan.h"

/* --------------------------------------------------------------------------------------- where a value is written */

struct scan {
	const char *p, *end;
};

static void skip_space(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p)
		s->p++;
}

static void skip_string(struct scan *s)
{
	for (s->p++; s->p < s->end && *s->p != '"'; s->p++)
		s->p += *s->p == '\\';
	s->p += s->p < s->end;
}

/* Skips one value of a text that is known to be valid JSON. */
static void skip_value(struct scan *s)
{
	unsigned depth = 0;
	do {
		skip_space(s);
		if (s->p >= s->end)
			return;
		if (*s->p == '"') {
			skip_string(s);
		} else if (*s->p == '{' || *s->p == '[') {
			depth++;
			s->p++;
		} else if (*s->p == '}' || *s->p == ']') {
			depth--;
			s->p++;
		} else if (*s->p == ',' || *s->p == ':') {
			s->p++;
		} else {
			while (s->p < s->end && !strchr(",:]} \t\r\n", *s->p))
				s->p++;
		}
	} while (depth > 0);
}

/* In the container at s->p, moves to the member's value or the element. *ret_where is where the member or element
 * begins. If a key occurs twice the last one counts, as in the parsed value. */
static bool enter(struct scan *s, const char *key, size_t index, const char **ret_where)
{
	struct scan found = { 0 };
	skip_space(s);
	if (s->p >= s->end || *s->p != (key ? '{' : '['))
		return false;
	s->p++;
	for (size_t i = 0;; i++) {
		skip_space(s);
		if (s->p >= s->end || *s->p == '}' || *s->p == ']')
			break;
		const char *where = s->p;
		bool match = !key && i == index;
		if (key) {
			skip_string(s);
			match = s->p - where == (ptrdiff_t)strlen(key) + 2 && memcmp(where + 1, key, strlen(key)) == 0;
			skip_space(s);
			s->p++;
			skip_space(s);
		}
		if (match) {
			found = *s;
			*ret_where = where;
		}
		skip_value(s);
		skip_space(s);
		if (s->p < s->end && *s->p == ',')
			s->p++;
	}
	*s = found;
	return found.p != NULL;
}

static const char *find_path(const struct fh_json_reader *r)
{
	struct scan s = { r->text.p, r->text.p + r->text.n };
	skip_space(&s);
	const char *where = s.p;
	for (unsigned i = 0; i < r->depth; i++)
		if (!enter(&s, r->path[i].key, r->path[i].index, &where))
			break;
	return where;
}

int fh_json_reader_fail(struct fh_json_reader *r, const char *format, ...)
{
	char message[512];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	uint32_t line = 1, column = 1;
	for (const char *p = r->text.p, *where = find_path(r); p < where; p++) {
		column = *p == '\n' ? 1 : column + (((unsigned char)*p & 0xC0) != 0x80);
		line += *p == '\n';
	}
	return fh_error_at(r->err, r->name, line, column, "%s", message);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

const char *fh_json_kind(const json_t *value)
{
	static const char *const kinds[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",        [JSON_NULL] = "null",
	};
	return value ? kinds[json_typeof(value)] : "nothing";
}

/* The tables bound the depth, so no document can exceed it. If one did, its positions would only be less exact. */
static bool push(struct fh_json_reader *r, const char *key, size_t index)
{
	if (r->depth == FH_JSON_READER_DEPTH_MAX)
		return false;
	r->path[r->depth].key = key;
	r->path[r->depth++].index = index;
	return true;
}

static int read_at(struct fh_json_reader *r, const char *key, size_t index, fh_json_read_fn *read, const json_t *value,
                   void *target)
{
	bool pushed = push(r, key, index);
	int code = read(r, value, target);
	r->depth -= pushed;
	return code;
}

static int unknown_key(struct fh_json_reader *r, const char *key, const struct fh_json_field *fields)
{
	struct fh_nearest near = FH_NEAREST_INIT(key);
	for (const struct fh_json_field *f = fields; f->key; f++)
		fh_nearest_offer(&near, f->key);
	bool pushed = push(r, key, 0);
	int code = fh_json_reader_fail(r, "unknown key \"%s\"", key);
	r->depth -= pushed;
	if (near.best)
		fh_error_hint(r->err, "did you mean \"%s\"?", near.best);
	return code;
}

int fh_json_read_object(struct fh_json_reader *r, const json_t *object, const struct fh_json_field *fields,
                        void *target)
{
	if (!json_is_object(object))
		return fh_json_reader_fail(r, "expected an object, not %s", fh_json_kind(object));
	for (void *i = json_object_iter((json_t *)(uintptr_t)object); i;
	     i = json_object_iter_next((json_t *)(uintptr_t)object, i)) {
		const char *key = json_object_iter_key(i);
		const struct fh_json_field *f = fields;
		while (f->key && strcmp(f->key, key) != 0)
			f++;
		if (!f->key)
			return unknown_key(r, key, fields);
	}
	for (const struct fh_json_field *f = fields; f->key; f++) {
		const json_t *value = json_object_get(object, f->key);
		if (!value && f->required)
			return fh_json_reader_fail(r, "the key \"%s\" is missing", f->key);
		if (!value)
			continue;
		int code = read_at(r, f->key, 0, f->read, value, (char *)target + f->offset);
		if (code < 0)
			return code;
	}
	return 0;
}

int fh_json_read_each(struct fh_json_reader *r, const json_t *array, fh_json_read_fn *read, void *target)
{
	if (!json_is_array(array))
		return fh_json_reader_fail(r, "expected an array, not %s", fh_json_kind(array));
	for (size_t i = 0; i < json_array_size(array); i++) {
		int code = read_at(r, NULL, i, read, json_array_get(array, i), target);
		if (code < 0)
			return code;
	}
	return 0;
}

int fh_json_read_text(struct fh_json_reader *r, const json_t *value, void *target)
{
	if (!json_is_string(value))
		return fh_json_reader_fail(r, "expected a string, not %s", fh_json_kind(value));
	if (strlen(json_string_value(value)) != json_string_length(value))
		return fh_json_reader_fail(r, "a NUL character is not allowed here");
	fh_plan_set_text(target, json_string_value(value));
	return 0;
}

static int add_text(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_auto_free char *text = NULL;
	int code = fh_json_read_text(r, value, &text);
	if (code == 0)
		fh_plan_add_string(target, text);
	return code;
}

int fh_json_read_strings(struct fh_json_reader *r, const json_t *value, void *target)
{
	fh_plan_set_strings(target, NULL);
	return fh_json_read_each(r, value, add_text, target);
}

int fh_json_read_bool(struct fh_json_reader *r, const json_t *value, void *target)
{
	if (!json_is_boolean(value))
		return fh_json_reader_fail(r, "expected true or false, not %s", fh_json_kind(value));
	*(bool *)target = json_is_true(value);
	return 0;
}

int fh_json_read_u64(struct fh_json_reader *r, const json_t *value, void *target)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return fh_json_reader_fail(r, "expected an integer that is not negative, not %s", fh_json_kind(value));
	*(uint64_t *)target = (uint64_t)json_integer_value(value);
	return 0;
}
