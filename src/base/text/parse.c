/* SPDX-License-Identifier: MIT */
#include "base/text/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int fh_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret, struct fh_error *err)
{
	uint64_t value = 0;
	bool good = s[0] != '\0', over = false;
	for (const char *p = s; *p && good; p++) {
		good = is_digit(*p);
		over = over || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
		       __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
	}
	if (good && !over && value >= min && value <= max) {
		*ret = value;
		return 0;
	}
	if (max == UINT64_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a whole number of %" PRIu64 " or more", s, min);
	return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a whole number from %" PRIu64 " to %" PRIu64, s, min, max);
}

/* Parses a plain decimal number at s ("-1", "0.5", ".5", "1e-3"). Returns its end, or NULL. strtod alone would also
 * accept blanks, hexadecimal, "inf" and "nan". */
static const char *decimal(const char *s, double *ret)
{
	const char *p = s + (*s == '-' || *s == '+');
	if (!is_digit(*p) && !(*p == '.' && is_digit(p[1])))
		return NULL;
	if (*p == '0' && (p[1] == 'x' || p[1] == 'X'))
		return NULL;
	char *end;
	*ret = strtod(s, &end);
	return isfinite(*ret) ? end : NULL;
}

int fh_parse_double(const char *s, double min, double max, double *ret, struct fh_error *err)
{
	double value = 0;
	const char *end = decimal(s, &value);
	if (end && *end == '\0' && value >= min && value <= max) {
		*ret = value;
		return 0;
	}
	if (isinf(min) && isinf(max))
		return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a number", s);
	if (isinf(max))
		return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a number of %g or more", s, min);
	if (isinf(min))
		return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a number of %g or less", s, max);
	return fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a number from %g to %g", s, min, max);
}

int fh_parse_size(const char *s, uint64_t *ret_bytes, struct fh_error *err)
{
	static const char units[] = "kmgt";
	double value = 0;
	const char *end = is_digit(s[0]) || s[0] == '.' ? decimal(s, &value) : NULL;
	if (end) {
		char lower = (char)(*end | 0x20);
		const char *unit = *end ? strchr(units, lower) : NULL;
		if (unit && *unit) {
			value = ldexp(value, 10 * (int)(unit - units + 1));
			end++;
			end += end[0] == 'i' && (end[1] == 'B' || end[1] == 'b');
		}
		end += *end == 'B' || *end == 'b';
	}
	if (!end || *end || value >= 0x1p63) {
		fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a size", s);
		fh_error_hint(err, "write bytes, or a number with K, M, G or T: 4096, 512M, 1.5G");
		return -FH_E_ARGUMENT;
	}
	*ret_bytes = (uint64_t)value;
	return 0;
}

int fh_parse_duration(const char *s, uint64_t *ret_ms, struct fh_error *err)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	double value = 0;
	const char *end = is_digit(s[0]) || s[0] == '.' ? decimal(s, &value) : NULL;
	for (size_t i = 0; end && i < FH_ARRAY_SIZE(units); i++) {
		double ms = value * units[i].ms;
		if (!fh_streq(end, units[i].unit) || ms > 1e15)
			continue;
		/* a positive duration is never rounded to 0 */
		*ret_ms = value > 0 && ms < 1 ? 1 : (uint64_t)(ms + 0.5);
		return 0;
	}
	fh_error_set(err, FH_E_ARGUMENT, "'%s' is not a duration", s);
	fh_error_hint(err, "write seconds, or a number with ms, s, m or h: 10, 0.5, 250ms, 2m");
	return -FH_E_ARGUMENT;
}
