/* SPDX-License-Identifier: MIT */
#include "judge/comparing/compare.h"

#include <errno.h>
#include <math.h>

#include "judge/comparing/value.h"

/* maximum bytes of a number; people write far shorter ones */
#define NUMBER_MAX 400
#define EXACT_DIGITS 15

/* ----------------------------------------------------------------------------------------------------------- tokens */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_token(struct fh_str *rest, struct fh_str *ret)
{
	size_t i = 0, start;
	while (i < rest->n && is_blank(rest->p[i]))
		i++;
	start = i;
	while (i < rest->n && !is_blank(rest->p[i]))
		i++;
	*ret = (struct fh_str){ rest->p + start, i - start };
	*rest = (struct fh_str){ rest->p + i, rest->n - i };
	return ret->n > 0;
}

static bool same_bytes(struct fh_str a, struct fh_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Parses s as a decimal number: digits, a point, an exponent. Unlike strtod, it accepts no "nan", "inf" or hexadecimal.
 * *ret_exact: a double can represent all its digits. */
static bool number_of(struct fh_str s, double *ret, bool *ret_exact)
{
	char text[NUMBER_MAX + 1];
	char *end;
	if (s.n == 0 || s.n > NUMBER_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789+-.eE", s.p[i]) || s.p[i] == '\0')
			return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	errno = 0;
	*ret = strtod(text, &end);
	*ret_exact = s.n <= EXACT_DIGITS && errno != ERANGE;
	return *end == '\0' && isfinite(*ret);
}

static bool same_number(struct fh_str a, struct fh_str b, double tolerance)
{
	double got, want;
	bool exact_got, exact_want;
	if (!number_of(b, &want, &exact_want) || !number_of(a, &got, &exact_got))
		return false;
	if (tolerance <= 0)
		return got == want && exact_got && exact_want;
	return fabs(got - want) <= tolerance * fmax(1.0, fabs(want));
}

static bool same_tokens(struct fh_str got, struct fh_str expected, bool numbers, double tolerance)
{
	for (;;) {
		struct fh_str a, b;
		bool more_a = next_token(&got, &a), more_b = next_token(&expected, &b);
		if (!more_a || !more_b)
			return more_a == more_b;
		if (!same_bytes(a, b) && !(numbers && same_number(a, b, tolerance)))
			return false;
	}
}

static bool by_tokens(struct fh_str got, struct fh_str expected, double tolerance)
{
	return same_tokens(got, expected, false, 0);
}

static bool by_numbers(struct fh_str got, struct fh_str expected, double tolerance)
{
	return same_tokens(got, expected, true, tolerance);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

struct lines {
	struct fh_str *items;
	size_t count, capacity;
};

static int compare_lines(const void *a, const void *b)
{
	const struct fh_str *x = a, *y = b;
	size_t n = FH_MIN(x->n, y->n);
	int c = n ? memcmp(x->p, y->p, n) : 0;
	return c ? c : x->n < y->n ? -1 : x->n > y->n;
}

/* The lines without blanks at their ends, sorted; empty lines at the end of the text are left out. */
static struct lines sorted_lines(struct fh_str text)
{
	struct lines l = { 0 };
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n, whole = n + (end != NULL);
		while (n > 0 && is_blank(text.p[n - 1]))
			n--;
		FH_PUSH(l.items, l.count, l.capacity) = (struct fh_str){ text.p, n };
		text = (struct fh_str){ text.p + whole, text.n - whole };
	}
	while (l.count > 0 && l.items[l.count - 1].n == 0)
		l.count--;
	if (l.count > 0)
		qsort(l.items, l.count, sizeof(*l.items), compare_lines);
	return l;
}

static bool unordered(struct fh_str got, struct fh_str expected, double tolerance)
{
	struct lines a = sorted_lines(got), b = sorted_lines(expected);
	bool same = a.count == b.count;
	for (size_t i = 0; same && i < a.count; i++)
		same = same_bytes(a.items[i], b.items[i]);
	free(a.items);
	free(b.items);
	return same;
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static bool exact(struct fh_str got, struct fh_str expected, double tolerance)
{
	return same_bytes(got, expected);
}

static bool trimmed(struct fh_str got, struct fh_str expected, double tolerance)
{
	return fh_output_equal(got, expected);
}

static const struct {
	const char *name;
	bool (*equal)(struct fh_str got, struct fh_str expected, double tolerance);
} rules[FH_COMPARE_COUNT_] = {
	[FH_COMPARE_TRIMMED] = { "trimmed", trimmed },       [FH_COMPARE_EXACT] = { "exact", exact },
	[FH_COMPARE_TOKENS] = { "tokens", by_tokens },       [FH_COMPARE_NUMBERS] = { "numbers", by_numbers },
	[FH_COMPARE_UNORDERED] = { "unordered", unordered },
};

const char *fh_compare_name(enum fh_compare rule)
{
	return rule < FH_COMPARE_COUNT_ ? rules[rule].name : NULL;
}

enum fh_compare fh_compare_of_name(const char *name)
{
	enum fh_compare rule = 0;
	while (rule < FH_COMPARE_COUNT_ && !fh_streq(rules[rule].name, name))
		rule++;
	return rule;
}

bool fh_compare_output(enum fh_compare rule, struct fh_str got, struct fh_str expected, double tolerance)
{
	return rule < FH_COMPARE_COUNT_ && rules[rule].equal(got, expected, tolerance);
}
