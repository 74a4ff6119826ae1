/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

#define LENGTH_MAX 20000u /* maximum units of each text: the time grows with the product of both lengths */

/* The text in units of UTF-16, which promptfoo counts: a character outside the BMP is two. */
static uint16_t *utf16_units(struct fh_str s, size_t *ret_n)
{
	uint16_t *units = fh_xcalloc(s.n + 1, sizeof(*units));
	size_t n = 0;
	while (s.n > 0) {
		uint32_t c;
		size_t k = fh_utf8_decode(s, &c);
		if (k == 0) {
			c = (unsigned char)*s.p;
			k = 1;
		}
		if (c >= 0x10000) {
			units[n++] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
			c = 0xDC00 + ((c - 0x10000) & 0x3FF);
		}
		units[n++] = (uint16_t)c;
		s.p += k;
		s.n -= k;
	}
	*ret_n = n;
	return units;
}

static uint32_t distance(const uint16_t *a, size_t na, const uint16_t *b, size_t nb)
{
	fh_auto_free uint32_t *row = fh_xcalloc(nb + 1, sizeof(*row));
	for (size_t j = 0; j <= nb; j++)
		row[j] = (uint32_t)j;
	for (size_t i = 1; i <= na; i++) {
		uint32_t diagonal = row[0];
		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= nb; j++) {
			uint32_t change = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			row[j] = FH_MIN(change, FH_MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[nb];
}

static int check(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	if (!json_is_string(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"levenshtein\" assertion type must have a string value");
	struct fh_str value = { json_string_value(call->value), json_string_length(call->value) };
	size_t na, nb;
	fh_auto_free uint16_t *a = utf16_units(call->output_text, &na);
	fh_auto_free uint16_t *b = utf16_units(value, &nb);
	if (na > LENGTH_MAX || nb > LENGTH_MAX) {
		ret->reason = fh_xasprintf("Levenshtein distance is computed for at most %u characters", LENGTH_MAX);
		return 0;
	}
	double threshold = call->has_threshold ? call->threshold : 5;
	uint32_t d = distance(a, na, b, nb);
	fh_auto_free char *limit = fh_xasprintf("%g", threshold);
	if (call->inverse)
		return fh_grade_set(ret, call, d <= threshold, "Levenshtein distance %u is less than or equal to threshold %s",
		                    d, limit);
	return fh_grade_set(ret, call, d <= threshold, "Levenshtein distance %u is greater than threshold %s", d, limit);
}

const struct fh_assertion fh_assertion_levenshtein = { .name = "levenshtein", .check = check };
