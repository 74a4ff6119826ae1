/* SPDX-License-Identifier: MIT */
#include "judge/common/finite.h"

#include <ctype.h>
#include <strings.h>

/* Whole identifiers, in any case; an underscore separates them (POSITIVE_INFINITY, is_nan). */
static const char *const names[] = { "nan",      "nanf",       "isnan",  "inf",      "isinf", "infinity",
	                                 "infinite", "isinfinite", "finite", "isfinite", "huge" };

static bool is_name(struct fh_str word)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == word.n && strncasecmp(names[i], word.p, word.n) == 0)
			return true;
	return false;
}

bool fh_not_finite_mentioned(struct fh_str test)
{
	for (size_t i = 0, n; i < test.n; i += n ? n : 1) {
		for (n = 0; i + n < test.n && isalnum((unsigned char)test.p[i + n]); n++)
			continue;
		if (n > 0 && is_name((struct fh_str){ test.p + i, n }))
			return true;
	}
	return false;
}
