/* SPDX-License-Identifier: MIT */
#include "judge/comparing/value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define FH_VALUE_DEPTH_MAX 128
#define FH_VALUE_DIGITS_MAX 400 /* maximum digits of an integer: the largest double has 309 */

/* A number, as a double and, where it is an integer of 64 bits, as that too: a double does not tell large ones apart.
 */
struct number {
	double value;
	int64_t integer;
	enum { REAL, INTEGER, LARGE } kind; /* LARGE: an integer of more than 64 bits */
	const char *digits;                 /* of such a one */
};

static struct number number_of_json(const json_t *j)
{
	return (struct number){ .value = json_number_value(j),
		                    .integer = json_integer_value(j),
		                    .kind = json_is_integer(j) ? INTEGER : REAL };
}

/* The number that is encoded; false if it is not a number. */
static bool number_of(const json_t *encoded, struct number *ret)
{
	if (json_is_number(encoded)) {
		*ret = number_of_json(encoded);
		return true;
	}
	const char *digits = fh_json_str(encoded, "$int", NULL);
	size_t n = digits ? strlen(digits) : 0, sign = digits && *digits == '-';
	if (n > sign && n <= FH_VALUE_DIGITS_MAX && strspn(digits + sign, "0123456789") == n - sign) {
		errno = 0;
		ret->digits = digits;
		ret->integer = strtoll(digits, NULL, 10);
		ret->kind = errno == ERANGE ? LARGE : INTEGER;
		ret->value = strtod(digits, NULL);
		return true;
	}
	const char *special = fh_json_str(encoded, "$float", NULL);
	if (!special || !(fh_streq(special, "inf") || fh_streq(special, "-inf")))
		return false;
	*ret = (struct number){ .value = *special == '-' ? -INFINITY : INFINITY };
	return true;
}

/* Whether an integer of more than 64 bits is the double that was made of its digits. */
static bool is_the_double(const struct number *large)
{
	char exact[FH_VALUE_DIGITS_MAX];
	snprintf(exact, sizeof(exact), "%.0f", large->value);
	return fh_streq(exact, large->digits);
}

static bool is_same_number(struct number a, struct number b)
{
	if (a.kind == INTEGER && b.kind == INTEGER)
		return a.integer == b.integer;
	if (a.value != b.value)
		return false;
	if (a.kind == INTEGER || b.kind == INTEGER) { /* and the other one is not: 2^53 + 1 is not 2^53 as a double */
		const struct number *integer = a.kind == INTEGER ? &a : &b, *other = a.kind == INTEGER ? &b : &a;
		return other->kind == REAL && other->value >= -0x1p63 && other->value < 0x1p63 &&
		       (int64_t)other->value == integer->integer;
	}
	/* An integer of more than 64 bits in the config was read as the double that it is (fh_yaml_lost_digits). */
	return a.kind == b.kind || is_the_double(a.kind == LARGE ? &a : &b);
}

static bool numbers_equal(const json_t *encoded, const json_t *expected, double tolerance)
{
	const json_t *only_double = json_object_get(encoded, "$double");
	struct number want = number_of_json(expected), got;
	if (json_is_number(only_double)) {
		/* in a language without integers, the expected number is the nearest double, too */
		got = (struct number){ .value = json_number_value(only_double) };
		want = (struct number){ .value = want.value };
	} else if (!number_of(encoded, &got)) {
		return false;
	}
	return is_same_number(got, want) || (isfinite(got.value) && tolerance > 0 &&
	                                     fabs(got.value - want.value) <= tolerance * FH_MAX(1.0, fabs(want.value)));
}

static bool equal(const json_t *encoded, const json_t *expected, double tolerance, int depth);

static bool lists_equal(const json_t *encoded, const json_t *expected, double tolerance, int depth)
{
	if (json_array_size(encoded) != json_array_size(expected))
		return false;
	for (size_t i = 0; i < json_array_size(expected); i++)
		if (!equal(json_array_get(encoded, i), json_array_get(expected, i), tolerance, depth + 1))
			return false;
	return true;
}

static bool dicts_equal(const json_t *encoded, const json_t *expected, double tolerance, int depth)
{
	const json_t *pairs = json_object_get(encoded, "$dict");
	if (!json_is_array(pairs) || json_array_size(pairs) != json_object_size(expected))
		return false;
	/* A dict's keys are unique, but a program may forge the same pair twice: each expected key has to be found. */
	fh_auto_json json_t *met = json_object();
	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);
		const char *key = json_string_value(json_array_get(pair, 0));
		size_t n = json_string_length(
		    json_array_get(pair, 0)); /* keys may contain a NUL, so they are not compared as C strings */
		const json_t *value = key && json_array_size(pair) == 2 ? json_object_getn(expected, key, n) : NULL;
		if (!value || !equal(json_array_get(pair, 1), value, tolerance, depth + 1))
			return false;
		json_object_setn_new_nocheck(met, key, n, json_true());
	}
	return json_object_size(met) == json_object_size(expected);
}

static bool strings_equal(const json_t *a, const json_t *b)
{
	return json_string_length(a) == json_string_length(b) &&
	       memcmp(json_string_value(a), json_string_value(b), json_string_length(b)) == 0;
}

static bool equal(const json_t *encoded, const json_t *expected, double tolerance, int depth)
{
	if (depth > FH_VALUE_DEPTH_MAX)
		return false;
	if (json_is_number(expected))
		return numbers_equal(encoded, expected, tolerance);
	if (json_is_object(expected))
		return json_is_object(encoded) && dicts_equal(encoded, expected, tolerance, depth);
	if (json_typeof(encoded) != json_typeof(expected))
		return false;
	if (json_is_array(expected))
		return lists_equal(encoded, expected, tolerance, depth);
	return !json_is_string(expected) || strings_equal(encoded, expected);
}

bool fh_value_equal(const json_t *encoded, const json_t *expected, double tolerance)
{
	return encoded && expected && equal(encoded, expected, tolerance, 0);
}

/* ------------------------------------------------------------------------------------------------- showing a value */

static void write_python_string(struct fh_buf *out, const json_t *s)
{
	/* quotes like Python's repr(): ' unless the text contains ' and not " */
	const char *text = json_string_value(s);
	size_t n = json_string_length(s);
	char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';
	fh_buf_addc(out, quote);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n')
			fh_buf_adds(out, "\\n");
		else if (text[i] == '\t')
			fh_buf_adds(out, "\\t");
		else if (text[i] == '\\' || text[i] == quote)
			fh_buf_addf(out, "\\%c", text[i]);
		else
			fh_buf_addc(out, text[i]);
	}
	fh_buf_addc(out, quote);
}

static void write_python(struct fh_buf *out, const json_t *value, int depth)
{
	const char *key, *comma = "";
	json_t *item;
	size_t i;
	if (json_is_string(value)) {
		write_python_string(out, value);
	} else if (json_is_array(value) && depth < FH_VALUE_DEPTH_MAX) {
		fh_buf_addc(out, '[');
		json_array_foreach(value, i, item)
		{
			fh_buf_adds(out, i ? ", " : "");
			write_python(out, item, depth + 1);
		}
		fh_buf_addc(out, ']');
	} else if (json_is_object(value) && depth < FH_VALUE_DEPTH_MAX) {
		fh_buf_addc(out, '{');
		json_object_foreach((json_t *)(uintptr_t)value, key, item)
		{
			fh_auto_json json_t *name = json_string(key);
			fh_buf_adds(out, comma);
			write_python_string(out, name);
			fh_buf_adds(out, ": ");
			write_python(out, item, depth + 1);
			comma = ", ";
		}
		fh_buf_addc(out, '}');
	} else if (json_is_boolean(value) || json_is_null(value)) {
		fh_buf_adds(out, json_is_null(value) ? "None" : json_is_true(value) ? "True" : "False");
	} else {
		fh_json_write(out, value, 0);
	}
}

char *fh_value_text(const json_t *expected, const char *language, size_t max)
{
	struct fh_buf out = FH_BUF_INIT(0);
	if (fh_streq(language, "python"))
		write_python(&out, expected, 0);
	else
		fh_json_write(&out, expected, 0);
	if (out.n > max) {
		while (max && ((unsigned char)out.p[max] & 0xC0) == 0x80)
			max--;
		fh_buf_truncate(&out, max);
		fh_buf_adds(&out, "…");
	}
	return fh_buf_take(&out, NULL);
}

/* ----------------------------------------------------------------------------------------------------------- output */

/* The next line without trailing blanks; false at the end of the text. */
static bool next_line(struct fh_str *rest, struct fh_str *ret)
{
	if (!rest->n)
		return false;
	const char *nl = memchr(rest->p, '\n', rest->n);
	size_t n = nl ? (size_t)(nl - rest->p) : rest->n, whole = n + (nl ? 1 : 0);
	while (n && (rest->p[n - 1] == ' ' || rest->p[n - 1] == '\t' || rest->p[n - 1] == '\r'))
		n--;
	*ret = (struct fh_str){ rest->p, n };
	*rest = (struct fh_str){ rest->p + whole, rest->n - whole };
	return true;
}

bool fh_output_equal(struct fh_str got, struct fh_str expected)
{
	for (;;) {
		struct fh_str a = { "", 0 }, b = { "", 0 };
		bool more_a = next_line(&got, &a), more_b = next_line(&expected, &b);
		if (!more_a && !more_b)
			return true;
		/* a line that one text lacks counts as empty */
		if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0)
			return false;
	}
}
