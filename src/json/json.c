/* SPDX-License-Identifier: MIT */
#include "json/json.h"
#include "base/fd.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>

/*
 * A JSON parser of our own that makes jansson's values: jansson 2.14 refuses integers beyond 64 bits and lone
 * surrogates, both of which real data has, and bounds depth only at 2048.
 */
struct parser {
	const char *p, *end, *start;
	const char *name;
	struct fh_error *err;
	struct fh_buf scratch;
	unsigned depth;
};

static json_t *parse_value(struct parser *j);

static FH_PRINTF(3, 4) json_t *fail_at(struct parser *j, const char *where, const char *format, ...)
{
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	uint32_t line = 1, column = 1;
	for (const char *p = j->start; p < where; p++) {
		if (*p == '\n')
			line++, column = 1;
		else if (((unsigned char)*p & 0xC0) != 0x80)
			column++;
	}
	fh_error_at(j->err, j->name, line, column, "%s", message);
	return NULL;
}

/* The character at p, for a message. */
static const char *seen(const struct parser *j, char buf[32])
{
	uint32_t cp;
	size_t n = j->p < j->end ? fh_utf8_decode((struct fh_str){ j->p, (size_t)(j->end - j->p) }, &cp) : 0;
	if (j->p >= j->end)
		snprintf(buf, 32, "the end of the text");
	else if (n && cp > 0x20 && cp != 0x7F)
		snprintf(buf, 32, "'%.*s'", (int)n, j->p);
	else
		snprintf(buf, 32, "byte 0x%02x%s", (unsigned char)*j->p,
		         j->p > j->start                      ? ""
		         : *j->p == '\x1f'                    ? ", as gzip begins"
		         : *j->p == '\xff' || *j->p == '\xfe' ? ", as UTF-16 begins"
		                                              : "");
	return buf;
}

static void skip_blanks(struct parser *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
		j->p++;
}

static json_t *parse_word(struct parser *j)
{
	static const struct {
		const char *word;
		json_t *(*make)(void);
	} words[] = { { "true", json_true }, { "false", json_false }, { "null", json_null } };
	size_t left = (size_t)(j->end - j->p);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);
		if (left >= n && memcmp(j->p, words[i].word, n) == 0) {
			j->p += n;
			return words[i].make();
		}
	}
	char buf[32];
	fail_at(j, j->p, "expected a JSON value, not %s", seen(j, buf));
	if (j->p < j->end && *j->p == '\'')
		fh_error_hint(j->err, "strings take double quotes");
	return NULL;
}

static const char *skip_digits(const struct parser *j, const char *p)
{
	while (p < j->end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static json_t *parse_number(struct parser *j)
{
	const char *start = j->p, *p = j->p;
	bool real = false;
	p += *p == '-';
	const char *digits = p;
	p = skip_digits(j, p);
	if (p == digits || (*digits == '0' && p > digits + 1))
		return fail_at(j, start, "bad number");
	if (p < j->end && *p == '.') {
		real = true;
		const char *fraction = ++p;
		p = skip_digits(j, p);
		if (p == fraction)
			return fail_at(j, start, "bad number: digits must follow the point");
	}
	if (p < j->end && (*p == 'e' || *p == 'E')) {
		real = true;
		p++;
		p += p < j->end && (*p == '+' || *p == '-');
		const char *exponent = p;
		p = skip_digits(j, p);
		if (p == exponent)
			return fail_at(j, start, "bad number: digits must follow the e");
	}
	fh_buf_truncate(&j->scratch, 0);
	fh_buf_add(&j->scratch, start, (size_t)(p - start));
	j->p = p;
	if (!real) {
		errno = 0;
		long long whole = strtoll(fh_buf_cstr(&j->scratch), NULL, 10);
		/* -0 is different from 0, and only a real can hold it. */
		if (errno == 0 && !(whole == 0 && *start == '-'))
			return json_integer(whole);
	}
	double value = strtod(fh_buf_cstr(&j->scratch), NULL);
	if (isinf(value))
		return fail_at(j, start, "number out of range");
	return json_real(value);
}

static bool parse_hex4(const struct parser *j, const char *p, uint32_t *ret)
{
	uint32_t value = 0;
	if (j->end - p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a' + 10);
		if (digit > 15 || (digit > 9 && (c | 0x20) < 'a'))
			return false;
		value = value << 4 | digit;
	}
	*ret = value;
	return true;
}

/* Parses an escape; j->p is behind its backslash. A surrogate without its other half becomes U+FFFD, as UTF-8 has no
 * form for it. */
static bool parse_escape(struct parser *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = j->p - 1;
	char c = j->p < j->end ? *j->p : '\0';
	const char *known = c ? strchr(from, c) : NULL;
	if (known) {
		fh_buf_addc(&j->scratch, to[known - from]);
		j->p++;
		return true;
	}
	uint32_t cp, low;
	if (c != 'u' || !parse_hex4(j, j->p + 1, &cp)) {
		fail_at(j, at, c == 'u' ? "\\u must be followed by four hexadecimal digits" : "unknown escape in a string");
		return false;
	}
	j->p += 5;
	bool pair = cp >= 0xD800 && cp < 0xDC00 && j->end - j->p >= 6 && j->p[0] == '\\' && j->p[1] == 'u' &&
	            parse_hex4(j, j->p + 2, &low) && low >= 0xDC00 && low < 0xE000;
	if (pair) {
		cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
		j->p += 6;
	} else if (cp >= 0xD800 && cp < 0xE000) {
		cp = FH_UTF8_REPLACEMENT;
	}
	char utf8[4];
	fh_buf_add(&j->scratch, utf8, fh_utf8_encode(cp, utf8));
	return true;
}

/* Parses a string into the scratch buffer. */
static bool parse_string(struct parser *j)
{
	const char *quote = j->p++;
	fh_buf_truncate(&j->scratch, 0);
	for (;;) {
		const char *run = j->p;
		while (j->p < j->end && *j->p != '"' && *j->p != '\\' && (unsigned char)*j->p >= 0x20)
			j->p++;
		if (!fh_utf8_valid((struct fh_str){ run, (size_t)(j->p - run) })) {
			fail_at(j, run, "a string is not valid UTF-8");
			return false;
		}
		fh_buf_add(&j->scratch, run, (size_t)(j->p - run));
		if (j->p >= j->end) {
			fail_at(j, quote, "this string is not closed");
			return false;
		}
		char c = *j->p++;
		if (c == '"')
			return true;
		if (c != '\\') {
			fail_at(j, j->p - 1, "a control character (byte 0x%02x) in a string must be escaped", (unsigned char)c);
			return false;
		}
		if (!parse_escape(j))
			return false;
	}
}

static json_t *parse_array(struct parser *j)
{
	fh_auto_json json_t *array = json_array();
	char buf[32];
	j->p++;
	skip_blanks(j);
	if (j->p < j->end && *j->p == ']') {
		j->p++;
		return FH_TAKE_PTR(array);
	}
	for (;;) {
		json_t *item = parse_value(j);
		if (!item)
			return NULL;
		json_array_append_new(array, item);
		skip_blanks(j);
		char c = j->p < j->end ? *j->p : '\0';
		if (c != ',' && c != ']')
			return fail_at(j, j->p, "expected , or ] after a list item, not %s", seen(j, buf));
		j->p++;
		if (c == ']')
			return FH_TAKE_PTR(array);
	}
}

static json_t *parse_object(struct parser *j)
{
	fh_auto_json json_t *object = json_object();
	char buf[32];
	j->p++;
	skip_blanks(j);
	if (j->p < j->end && *j->p == '}') {
		j->p++;
		return FH_TAKE_PTR(object);
	}
	for (;;) {
		skip_blanks(j);
		if (j->p >= j->end || *j->p != '"')
			return fail_at(j, j->p, "expected a key in double quotes, not %s", seen(j, buf));
		if (!parse_string(j))
			return NULL;
		size_t key_n = j->scratch.n;
		fh_auto_free char *key = fh_xmemdup(fh_buf_cstr(&j->scratch), key_n);
		skip_blanks(j);
		if (j->p >= j->end || *j->p != ':')
			return fail_at(j, j->p, "expected : after a key, not %s", seen(j, buf));
		j->p++;
		json_t *value = parse_value(j);
		if (!value)
			return NULL;
		json_object_setn_new_nocheck(object, key, key_n, value);
		skip_blanks(j);
		char c = j->p < j->end ? *j->p : '\0';
		if (c != ',' && c != '}')
			return fail_at(j, j->p, "expected , or } after a value, not %s", seen(j, buf));
		j->p++;
		if (c == '}')
			return FH_TAKE_PTR(object);
	}
}

static json_t *parse_value(struct parser *j)
{
	skip_blanks(j);
	char c = j->p < j->end ? *j->p : '\0';
	if (c == '"')
		return parse_string(j) ? json_stringn_nocheck(fh_buf_cstr(&j->scratch), j->scratch.n) : NULL;
	if (c == '-' || (c >= '0' && c <= '9'))
		return parse_number(j);
	if (c != '{' && c != '[')
		return parse_word(j);
	if (++j->depth > FH_JSON_DEPTH_MAX)
		return fail_at(j, j->p, "nested more than %d levels deep", FH_JSON_DEPTH_MAX);
	json_t *value = c == '{' ? parse_object(j) : parse_array(j);
	j->depth--;
	return value;
}

json_t *fh_json_parse(struct fh_str text, const char *name, struct fh_error *err)
{
	struct parser j = { .p = text.p, .end = text.p + text.n, .start = text.p, .name = name, .err = err };
	j.scratch = (struct fh_buf)FH_BUF_INIT(0);
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		j.p = j.start = text.p + 3;
	fh_auto_json json_t *value = parse_value(&j);
	if (value) {
		skip_blanks(&j);
		char buf[32];
		if (j.p < j.end) {
			fail_at(&j, j.p, "expected the end of the text after the value, not %s", seen(&j, buf));
			json_decref(FH_TAKE_PTR(value));
		}
	}
	fh_buf_release(&j.scratch);
	return FH_TAKE_PTR(value);
}

json_t *fh_json_load_file(const char *path, size_t max_bytes, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(max_bytes);
	if (fh_file_read(path, &text, err) < 0)
		return NULL;
	return fh_json_parse(fh_buf_str(&text), path, err);
}

const char *fh_json_str(const json_t *object, const char *key, const char *fallback)
{
	const json_t *value = json_object_get(object, key);
	return json_is_string(value) ? json_string_value(value) : fallback;
}

int64_t fh_json_int(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);
	if (json_is_integer(value))
		return json_integer_value(value);
	/* 3.0 counts as an integer, as in JavaScript. */
	double real = json_real_value(value);
	bool whole = json_is_real(value) && real >= -0x1p63 && real < 0x1p63 && real == trunc(real);
	return whole ? (int64_t)real : fallback;
}

double fh_json_num(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : fallback;
}

bool fh_json_bool(const json_t *object, const char *key, bool fallback)
{
	const json_t *value = json_object_get(object, key);
	return json_is_boolean(value) ? json_is_true(value) : fallback;
}
