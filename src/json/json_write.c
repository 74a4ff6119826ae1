/* SPDX-License-Identifier: MIT */
#include "json/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>

/*
 * Tries the sixteen-digit numbers above n. A power of two is nearer to its lower neighbour than to its upper one, so a
 * number other than the nearest with sixteen digits may read back as n. Writes "d.ddde±x", or leaves buf unchanged.
 */
static bool sixteen_above(double n, char buf[40])
{
	char above[40];
	snprintf(above, sizeof(above), "%.15e", n);
	char *digit = strchr(above, 'e') - 1;
	for (; digit > above && (*digit == '9' || *digit == '.'); digit--)
		if (*digit == '9')
			*digit = '0';
	if (*digit == '9')
		return false;
	++*digit;
	if (strtod(above, NULL) != n)
		return false;
	memcpy(buf, above, sizeof(above));
	return true;
}

/* Writes the fewest significant digits that read back as n, as "d.ddde±x"; returns the exponent. Fifteen digits always
 * read back as the number that they were, so the search starts there; subnormal numbers hold fewer, so for these it
 * starts at one. */
static int shortest(double n, char buf[40])
{
	int first = fabs(n) < 1e-290 ? 0 : 14;
	for (int digits = first; digits < 17; digits++) {
		snprintf(buf, 40, "%.*e", digits, n);
		if (strtod(buf, NULL) == n || (digits == 15 && sixteen_above(n, buf)))
			break;
	}
	return (int)strtol(strchr(buf, 'e') + 1, NULL, 10);
}

void fh_json_write_number(struct fh_buf *out, double n)
{
	if (isnan(n)) {
		fh_buf_adds(out, "NaN");
		return;
	}
	if (n < 0)
		fh_buf_addc(out, '-');
	if (isinf(n)) {
		fh_buf_adds(out, "Infinity");
		return;
	}
	if (n == 0) {
		fh_buf_addc(out, '0');
		return;
	}
	if (fabs(n) < 1e15 && n == floor(n)) {
		/* Most numbers in results are small integers, which need no search for the shortest form. */
		fh_buf_addi(out, (int64_t)fabs(n));
		return;
	}
	char buf[40], digits[24];
	int point = shortest(fabs(n), buf) + 1; /* position of the decimal point, counted from the first digit */
	int k = 0;
	for (const char *p = buf; *p != 'e'; p++)
		if (*p != '.')
			digits[k++] = *p;
	while (k > 1 && digits[k - 1] == '0')
		k--;
	if (point > 21 || point < -5) {
		fh_buf_addc(out, digits[0]);
		if (k > 1)
			fh_buf_addf(out, ".%.*s", k - 1, digits + 1);
		fh_buf_addf(out, "e%c%d", point > 0 ? '+' : '-', abs(point - 1));
	} else if (point <= 0) {
		fh_buf_addf(out, "0.%.*s%.*s", -point, "00000", k, digits);
	} else if (k <= point) {
		fh_buf_addf(out, "%.*s%.*s", k, digits, point - k, "000000000000000000000");
	} else {
		fh_buf_addf(out, "%.*s.%.*s", point, digits, k - point, digits + point);
	}
}

#define EACH(byte) ((uint64_t)(byte)*UINT64_C(0x0101010101010101))

/* Whether any of eight bytes is a control character, `"`, `\` or no ASCII. A subtraction borrows from the next byte
 * only where the answer is true already. */
static inline bool any_special(const char *p)
{
	uint64_t x;
	memcpy(&x, p, sizeof(x));
	uint64_t quote = x ^ EACH('"'), backslash = x ^ EACH('\\');
	return ((x | (x - EACH(0x20)) | (quote - EACH(1)) | (backslash - EACH(1))) & EACH(0x80)) != 0;
}

/* Writes a string in one piece if, as usual, it has nothing to escape or check. */
static bool write_plain(struct fh_buf *out, struct fh_str s)
{
	size_t i = 0;
	for (; i + 8 <= s.n; i += 8)
		if (any_special(s.p + i))
			return false;
	for (; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
			return false;
	}
	char *p = fh_buf_reserve(out, s.n + 2);
	if (!p)
		return false;
	*p = '"';
	if (s.n > 0)
		memcpy(p + 1, s.p, s.n);
	p[s.n + 1] = '"';
	out->n += s.n + 2;
	out->p[out->n] = '\0';
	return true;
}

void fh_json_write_string(struct fh_buf *out, struct fh_str s)
{
	static const char *const named[0x20] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
	};
	if (write_plain(out, s))
		return;
	fh_buf_addc(out, '"');
	size_t good = 0;
	while (good < s.n) {
		unsigned char c = (unsigned char)s.p[good];
		uint32_t cp;
		size_t n = c < 0x80 ? 1 : fh_utf8_decode((struct fh_str){ s.p + good, s.n - good }, &cp);
		if (n && c >= 0x20 && c != '"' && c != '\\') {
			good += n;
			continue;
		}
		fh_buf_add(out, s.p, good);
		s.p += good, s.n -= good;
		good = 0;
		if (!n) {
			/* The sanitizer decides how many bytes one U+FFFD replaces; it gets the bytes up to the next ASCII
			 * character. */
			size_t end = 1;
			while (end < s.n && (unsigned char)s.p[end] >= 0x80)
				end++;
			fh_utf8_sanitize(out, (struct fh_str){ s.p, end });
			n = end;
		} else if (c == '"' || c == '\\') {
			fh_buf_addf(out, "\\%c", c);
		} else if (named[c]) {
			fh_buf_adds(out, named[c]);
		} else {
			fh_buf_addf(out, "\\u%04x", c);
		}
		s.p += n, s.n -= n;
	}
	fh_buf_add(out, s.p, s.n);
	fh_buf_addc(out, '"');
}

static void new_line(struct fh_buf *out, int indent, int level)
{
	if (indent <= 0)
		return;
	fh_buf_addc(out, '\n');
	size_t n = (size_t)indent * (size_t)level;
	char *p = fh_buf_reserve(out, n);
	if (!p)
		return;
	memset(p, ' ', n);
	out->n += n;
	out->p[out->n] = '\0';
}

struct style {
	int indent;
	bool keeps_reals; /* 1.0 is not written as 1 */
};

static void write_value(struct fh_buf *out, const json_t *value, struct style style, int level);

static void write_array(struct fh_buf *out, const json_t *array, struct style style, int level)
{
	size_t n = json_array_size(array);
	fh_buf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			fh_buf_addc(out, ',');
		new_line(out, style.indent, level + 1);
		write_value(out, json_array_get(array, i), style, level + 1);
	}
	if (n)
		new_line(out, style.indent, level);
	fh_buf_addc(out, ']');
}

static void write_object(struct fh_buf *out, const json_t *object, struct style style, int level)
{
	union {
		const json_t *in;
		json_t *out; /* jansson's iterators take no const pointer, but change nothing */
	} o = { .in = object };
	size_t i = 0;
	fh_buf_addc(out, '{');
	for (void *it = json_object_iter(o.out); it; it = json_object_iter_next(o.out, it), i++) {
		if (i)
			fh_buf_addc(out, ',');
		new_line(out, style.indent, level + 1);
		fh_json_write_string(out, (struct fh_str){ json_object_iter_key(it), json_object_iter_key_len(it) });
		fh_buf_adds(out, style.indent > 0 ? ": " : ":");
		write_value(out, json_object_iter_value(it), style, level + 1);
	}
	if (i)
		new_line(out, style.indent, level);
	fh_buf_addc(out, '}');
}

static void write_real(struct fh_buf *out, double n, bool keeps_reals)
{
	fh_json_write_number(out, n);
	if (keeps_reals && fabs(n) < 1e21 && n == floor(n)) /* larger ones have an exponent */
		fh_buf_adds(out, ".0");
}

static void write_value(struct fh_buf *out, const json_t *value, struct style style, int level)
{
	if (json_is_object(value))
		write_object(out, value, style, level);
	else if (json_is_array(value))
		write_array(out, value, style, level);
	else if (json_is_string(value))
		fh_json_write_string(out, (struct fh_str){ json_string_value(value), json_string_length(value) });
	else if (json_is_integer(value))
		fh_buf_addi(out, json_integer_value(value));
	else if (json_is_real(value))
		write_real(out, json_real_value(value), style.keeps_reals);
	else
		fh_buf_adds(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
}

void fh_json_write(struct fh_buf *out, const json_t *value, int indent)
{
	write_value(out, value, (struct style){ .indent = indent }, 0);
}

void fh_json_write_typed(struct fh_buf *out, const json_t *value)
{
	write_value(out, value, (struct style){ .keeps_reals = true }, 0);
}

char *fh_json_text(const json_t *value, int indent)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_json_write(&out, value, indent);
	return fh_buf_take(&out, NULL);
}

json_t *fh_json_bytes(struct fh_str s)
{
	if (fh_utf8_valid(s))
		return json_stringn_nocheck(s.p, s.n);
	fh_auto_buf struct fh_buf clean = FH_BUF_INIT(0);
	fh_utf8_sanitize(&clean, s);
	return json_stringn_nocheck(fh_buf_cstr(&clean), clean.n);
}
