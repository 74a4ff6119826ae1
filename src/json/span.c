/* SPDX-License-Identifier: MIT */
#include "json/span.h"

#include "json/json.h"

static struct fh_str after(struct fh_str s, size_t n)
{
	return (struct fh_str){ s.p + n, s.n - n };
}

static struct fh_str without_blanks(struct fh_str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\r' || s.p[0] == '\n'))
		s = after(s, 1);
	return s;
}

struct fh_str fh_json_span(struct fh_str text)
{
	struct fh_str s = without_blanks(text);
	size_t i = 0, depth = 0;
	for (bool quoted = false; i < s.n; i++) {
		char c = s.p[i];
		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		if (depth == 0 && (c == ',' || c == ':' || c == ']' || c == '}'))
			break;
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		if (depth == 0 && (c == '}' || c == ']')) {
			i++;
			break;
		}
	}
	i = FH_MIN(i, s.n);
	while (i > 0 && (s.p[i - 1] == ' ' || s.p[i - 1] == '\t' || s.p[i - 1] == '\r' || s.p[i - 1] == '\n'))
		i--;
	return (struct fh_str){ s.p, i };
}

static bool is_key(struct fh_str literal, const char *key)
{
	fh_auto_json json_t *name = fh_json_parse(literal, NULL, NULL);
	return json_is_string(name) && fh_streq(json_string_value(name), key);
}

/* The text behind the value at the beginning of s and the comma or colon that follows the value. */
static struct fh_str next_part(struct fh_str s, struct fh_str value)
{
	struct fh_str rest = without_blanks(after(s, value.p + value.n - s.p));
	return rest.n > 0 ? after(rest, 1) : rest;
}

bool fh_json_span_member(struct fh_str object, const char *key, struct fh_str *ret)
{
	struct fh_str rest = without_blanks(object);
	bool found = false;
	if (rest.n == 0 || rest.p[0] != '{')
		return false;
	for (rest = after(rest, 1); rest.n > 0;) {
		struct fh_str name = fh_json_span(rest);
		if (name.n == 0)
			break;
		rest = next_part(rest, name);
		struct fh_str value = fh_json_span(rest);
		if (is_key(name, key)) {
			*ret = value;
			found = true;
		}
		rest = next_part(rest, value);
	}
	return found;
}

struct fh_str fh_json_span_items(struct fh_str array)
{
	struct fh_str s = without_blanks(array);
	return s.n > 0 && s.p[0] == '[' ? after(s, 1) : (struct fh_str){ s.p, 0 };
}

bool fh_json_span_item(struct fh_str *rest, struct fh_str *ret)
{
	struct fh_str value = fh_json_span(*rest);
	if (value.n == 0)
		return false;
	*rest = next_part(*rest, value);
	*ret = value;
	return true;
}
