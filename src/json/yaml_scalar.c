/* SPDX-License-Identifier: MIT */
#include "json/yaml_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define TAG "tag:yaml.org,2002:"

enum kind { KIND_STR, KIND_NULL, KIND_BOOL, KIND_INT, KIND_FLOAT, KIND_NOT_FINITE };

static const struct {
	const char *word;
	enum kind kind;
	bool truth;
} words[] = {
	{ "", KIND_NULL },
	{ "~", KIND_NULL },
	{ "null", KIND_NULL },
	{ "Null", KIND_NULL },
	{ "NULL", KIND_NULL },
	{ "true", KIND_BOOL, true },
	{ "True", KIND_BOOL, true },
	{ "TRUE", KIND_BOOL, true },
	{ "false", KIND_BOOL },
	{ "False", KIND_BOOL },
	{ "FALSE", KIND_BOOL },
	{ ".inf", KIND_NOT_FINITE },
	{ ".Inf", KIND_NOT_FINITE },
	{ ".INF", KIND_NOT_FINITE },
	{ "+.inf", KIND_NOT_FINITE },
	{ "+.Inf", KIND_NOT_FINITE },
	{ "+.INF", KIND_NOT_FINITE },
	{ "-.inf", KIND_NOT_FINITE },
	{ "-.Inf", KIND_NOT_FINITE },
	{ "-.INF", KIND_NOT_FINITE },
	{ ".nan", KIND_NOT_FINITE },
	{ ".NaN", KIND_NOT_FINITE },
	{ ".NAN", KIND_NOT_FINITE },
};

static const struct {
	const char *tag;
	enum kind kind;
	const char *why;
} tags[] = {
	{ TAG "str", KIND_STR, "" },
	{ TAG "null", KIND_NULL, "!!null takes null, ~ or nothing" },
	{ TAG "bool", KIND_BOOL, "!!bool takes true or false" },
	{ TAG "int", KIND_INT, "!!int takes a whole number" },
	{ TAG "float", KIND_FLOAT, "!!float takes a number" },
	{ "!", KIND_STR, "" },
};

static size_t count_digits(const char *p, size_t n, const char *set)
{
	size_t i = 0;
	while (i < n && p[i] && strchr(set, p[i]))
		i++;
	return i;
}

/* The kind of number that s is in the core schema, or KIND_STR. */
static enum kind number_kind(struct fh_str s, bool *ret_leading_zero)
{
	static const char decimal[] = "0123456789";
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'o')) {
		const char *set = s.p[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
		return count_digits(s.p + 2, s.n - 2, set) == s.n - 2 ? KIND_INT : KIND_STR;
	}
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');
	size_t whole = count_digits(s.p + i, s.n - i, decimal), fraction = 0;
	*ret_leading_zero = whole > 1 && s.p[i] == '0';
	i += whole;
	if (i == s.n)
		return whole ? KIND_INT : KIND_STR;
	if (s.p[i] == '.') {
		i++;
		fraction = count_digits(s.p + i, s.n - i, decimal);
		i += fraction;
	}
	if (whole + fraction == 0)
		return KIND_STR;
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
		size_t exponent = count_digits(s.p + i, s.n - i, decimal);
		i = exponent ? i + exponent : 0;
	}
	return i == s.n ? KIND_FLOAT : KIND_STR;
}

/* s is NUL-terminated, as libyaml's scalars are. */
static json_t *make_number(struct fh_str s, enum kind kind, const char **ret_why)
{
	int base = s.n > 2 && s.p[1] == 'x' ? 16 : s.n > 2 && s.p[1] == 'o' ? 8 : 10;
	if (kind == KIND_INT) {
		errno = 0;
		long long value = strtoll(base == 8 ? s.p + 2 : s.p, NULL, base);
		if (errno == 0)
			return json_integer(value);
	}
	double value = base == 8 ? INFINITY : strtod(s.p, NULL);
	if (isfinite(value))
		return json_real(value);
	*ret_why = "the number is out of range";
	return NULL;
}

bool fh_yaml_has_lost_digits(struct fh_str text, const json_t *value)
{
	char exact[320]; /* the largest double has 309 digits */
	bool zero;
	if (!json_is_real(value) || number_kind(text, &zero) != KIND_INT)
		return false;
	int n = snprintf(exact, sizeof(exact), "%.0f", json_real_value(value));
	size_t plus = text.p[0] == '+';
	return (size_t)n != text.n - plus || memcmp(exact, text.p + plus, (size_t)n) != 0;
}

static json_t *make(struct fh_str s, enum kind kind, bool truth, const char **ret_why)
{
	if (kind == KIND_NULL)
		return json_null();
	if (kind == KIND_BOOL)
		return json_boolean(truth);
	if (kind == KIND_INT || kind == KIND_FLOAT)
		return make_number(s, kind, ret_why);
	if (kind == KIND_STR)
		return json_stringn_nocheck(s.p, s.n);
	*ret_why = "infinity and not-a-number have no place in JSON";
	return NULL;
}

json_t *fh_yaml_scalar(struct fh_str text, bool plain, const char *tag, const char **ret_why)
{
	enum kind kind = KIND_STR;
	bool truth = false, leading_zero = false;
	if (plain || tag) {
		size_t i = 0;
		while (i < FH_ARRAY_SIZE(words) && !fh_str_eq(text, words[i].word))
			i++;
		kind = i < FH_ARRAY_SIZE(words) ? words[i].kind : number_kind(text, &leading_zero);
		truth = i < FH_ARRAY_SIZE(words) && words[i].truth;
	}
	if (!tag)
		return make(text, leading_zero ? KIND_STR : kind, truth, ret_why);
	for (size_t i = 0; i < FH_ARRAY_SIZE(tags); i++) {
		if (!fh_streq(tag, tags[i].tag))
			continue;
		enum kind wanted = tags[i].kind;
		if (wanted != KIND_STR && kind != wanted &&
		    !(wanted == KIND_FLOAT && (kind == KIND_INT || kind == KIND_NOT_FINITE))) {
			*ret_why = tags[i].why;
			return NULL;
		}
		return make(text, wanted == KIND_FLOAT && kind == KIND_NOT_FINITE ? kind : wanted, truth, ret_why);
	}
	*ret_why = "unknown tag: only !!str, !!int, !!float, !!bool and !!null are read";
	return NULL;
}

bool fh_yaml_collection_tag(const char *tag)
{
	return !tag || fh_streq(tag, "!") || fh_streq(tag, TAG "seq") || fh_streq(tag, TAG "map");
}
