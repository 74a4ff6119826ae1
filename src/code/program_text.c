/* SPDX-License-Identifier: MIT */
#include "code/program_text.h"

#include <math.h>

#define DEPTH_MAX 200

/* ---------------------------------------------------------------------------------------------------------- strings */

void fh_python_string(struct fh_buf *out, struct fh_str text)
{
	fh_buf_addc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = text.p[i];
		if (c == '"' || c == '\\')
			fh_buf_addf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fh_buf_addf(out, "\\x%02x", c);
		else
			fh_buf_addc(out, (char)c);
	}
	fh_buf_addc(out, '"');
}

void fh_javascript_string(struct fh_buf *out, struct fh_str text)
{
	/* Since ES2019 every JSON string is a JavaScript string (before, U+2028 and U+2029 were not allowed). */
	fh_json_write_string(out, text);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static bool hex4(const char *p, unsigned *ret)
{
	unsigned value = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef", *at = p[i] ? strchr(digits, p[i] | (p[i] >= 'A' ? 0x20 : 0)) : NULL;
		if (!at)
			return false;
		value = value << 4 | (unsigned)(at - digits);
	}
	*ret = value;
	return true;
}

/* Writes the JSON escape at p (behind its backslash) for Python; returns its length. Only these differ between the
 * two. */
static size_t add_escape(struct fh_buf *out, const char *p, size_t left)
{
	unsigned high, low;
	if (left < 1)
		return 0;
	if (p[0] == '/') {
		fh_buf_addc(out, '/');
		return 1;
	}
	if (p[0] != 'u' || left < 5 || !hex4(p + 1, &high)) {
		fh_buf_addf(out, "\\%c", p[0]);
		return 1;
	}
	if (high >= 0xd800 && high < 0xdc00 && left >= 11 && p[5] == '\\' && p[6] == 'u' && hex4(p + 7, &low) &&
	    low >= 0xdc00 && low < 0xe000) {
		fh_buf_addf(out, "\\U%08x", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
		return 11;
	}
	fh_buf_addf(out, "\\u%04x", high);
	return 5;
}

/* Writes the string that begins at s; returns its length. */
static size_t add_json_string(struct fh_buf *out, struct fh_str s)
{
	size_t i = 1;
	fh_buf_addc(out, '"');
	while (i < s.n && s.p[i] != '"') {
		if (s.p[i] == '\\')
			i += 1 + add_escape(out, s.p + i + 1, s.n - i - 1);
		else if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			fh_buf_addf(out, "\\x%02x", (unsigned char)s.p[i++]);
		else
			fh_buf_addc(out, s.p[i++]);
	}
	fh_buf_addc(out, '"');
	return FH_MIN(i + 1, s.n);
}

void fh_python_of_json(struct fh_buf *out, struct fh_str json)
{
	static const struct {
		const char *json, *python;
	} words[] = { { "true", "True" },
		          { "false", "False" },
		          { "null", "None" },
		          { "NaN", "float('nan')" },
		          { "Infinity", "float('inf')" } };
	size_t i = 0;
	while (i < json.n) {
		size_t w = 0;
		if (json.p[i] == '"') {
			i += add_json_string(out, (struct fh_str){ json.p + i, json.n - i });
			continue;
		}
		while (w < FH_ARRAY_SIZE(words) &&
		       (json.n - i < strlen(words[w].json) || memcmp(json.p + i, words[w].json, strlen(words[w].json)) != 0))
			w++;
		if (w < FH_ARRAY_SIZE(words)) {
			fh_buf_adds(out, words[w].python);
			i += strlen(words[w].json);
		} else {
			/* Outside of strings only characters of numbers and brackets are copied. */
			if (strchr("0123456789+-.eE[]{},: ", json.p[i]) && json.p[i])
				fh_buf_addc(out, json.p[i]);
			i++;
		}
	}
}

/* ---------------------------------------------------------------------------------------------------- tagged values */

static int add_value(struct fh_buf *out, const json_t *value, int depth, struct fh_error *err);

static int bad_value(struct fh_error *err)
{
	return fh_error_set(err, FH_E_CONFIG, "the reference returns a value that cannot be written as program text");
}

static int add_items(struct fh_buf *out, const json_t *list, const char *open, const char *close, int depth,
                     struct fh_error *err)
{
	const json_t *item;
	size_t i;
	int r = json_is_array(list) ? 0 : bad_value(err);
	fh_buf_adds(out, open);
	json_array_foreach(list, i, item)
	{
		if (r >= 0)
			r = add_value(out, item, depth + 1, err);
		fh_buf_addc(out, ',');
	}
	fh_buf_adds(out, close);
	return r;
}

static int add_tuple(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "(", ")", depth, err);
}

static int add_set(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "set([", "])", depth, err);
}

static int add_frozenset(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "frozenset([", "])", depth, err);
}

static int add_dict(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "dict([", "])", depth, err);
}

/* In hexadecimal, since Python refuses decimal numbers of more than 4300 digits. */
static int add_int(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	const char *text = json_string_value(body), *digits = text;
	if (digits && *digits == '-')
		digits++;
	if (!digits || strncmp(digits, "0x", 2) != 0 || !digits[2] ||
	    digits[2 + strspn(digits + 2, "0123456789abcdef")] != '\0')
		return bad_value(err);
	fh_buf_adds(out, text);
	return 0;
}

static int add_text(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "LongText(", ")", depth, err);
}

static int add_long(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "LongList(", ")", depth, err);
}

static int add_float(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	static const char *const names[] = { "nan", "inf", "-inf" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (fh_streq(json_string_value(body), names[i])) {
			fh_buf_addf(out, "float(\"%s\")", names[i]);
			return 0;
		}
	return bad_value(err);
}

static int add_complex(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err)
{
	return add_items(out, body, "complex(", ")", depth, err);
}

static const struct {
	const char *tag;
	int (*add)(struct fh_buf *out, const json_t *body, int depth, struct fh_error *err);
} tags[] = {
	{ "$tuple", add_tuple },     { "$set", add_set },   { "$frozenset", add_frozenset },
	{ "$dict", add_dict },       { "$int", add_int },   { "$float", add_float },
	{ "$complex", add_complex }, { "$text", add_text }, { "$long", add_long },
};

static int add_tagged(struct fh_buf *out, const json_t *value, int depth, struct fh_error *err)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(tags); i++) {
		const json_t *body = json_object_get(value, tags[i].tag);
		if (body)
			return tags[i].add(out, body, depth, err);
	}
	return bad_value(err);
}

static int add_value(struct fh_buf *out, const json_t *value, int depth, struct fh_error *err)
{
	if (depth > DEPTH_MAX)
		return bad_value(err);
	if (json_is_string(value)) {
		fh_python_string(out, (struct fh_str){ json_string_value(value), json_string_length(value) });
	} else if (json_is_integer(value)) {
		fh_buf_addf(out, "%lld", (long long)json_integer_value(value));
	} else if (json_is_real(value)) {
		/* Seventeen digits give the same number when read back; the point makes it a float. */
		fh_auto_free char *text = fh_xasprintf("%.17g", json_real_value(value));
		fh_buf_addf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
	} else if (json_is_boolean(value) || json_is_null(value)) {
		fh_buf_adds(out, json_is_null(value) ? "None" : json_is_true(value) ? "True" : "False");
	} else if (json_is_array(value)) {
		return add_items(out, value, "[", "]", depth, err);
	} else {
		return add_tagged(out, value, depth, err);
	}
	return 0;
}

int fh_python_of_value(struct fh_buf *out, const json_t *tagged, struct fh_error *err)
{
	return add_value(out, tagged, 0, err);
}
