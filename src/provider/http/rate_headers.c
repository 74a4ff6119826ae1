/* SPDX-License-Identifier: MIT */
#include "provider/http/rate_headers.h"

#include <strings.h>
#include <time.h>

#define FH_RATE_EPOCH 1000000000 /* a larger number is a time, not a duration */

struct fh_str fh_headers_find(struct fh_str headers, const char *name)
{
	size_t length = strlen(name);
	while (headers.n) {
		const char *nl = memchr(headers.p, '\n', headers.n);
		size_t n = nl ? (size_t)(nl - headers.p) : headers.n;
		if (n > length && headers.p[length] == ':' && strncasecmp(headers.p, name, length) == 0) {
			struct fh_str value = { headers.p + length + 1, n - length - 1 };
			while (value.n && strchr(" \t", value.p[0]))
				value.p++, value.n--;
			while (value.n && strchr(" \t\r", value.p[value.n - 1]))
				value.n--;
			return value;
		}
		size_t step = FH_MIN(n + 1, headers.n);
		headers.p += step;
		headers.n -= step;
	}
	return (struct fh_str){ NULL, 0 };
}

/* Milliseconds from `now` (seconds since 1970) until a time in ISO 8601 or in one of the three forms of an HTTP date,
 * 0 for a past one. False: the text has another form. */
static bool moment_ms(const char *text, int64_t now, uint64_t *ret)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%a, %d %b %Y %H:%M:%S", "%a, %d-%b-%y %H:%M:%S",
		                                 "%a %b %d %H:%M:%S %Y" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(forms); i++) {
		struct tm t = { 0 };
		if (!strptime(text, forms[i], &t))
			continue;
		int64_t at = (int64_t)timegm(&t);
		*ret = at > now ? (uint64_t)(at - now) * 1000 : 0;
		return true;
	}
	return false;
}

/* Parses "1m30.5s", "20ms", "30" (seconds), "2026-01-02T03:04:05Z" or seconds since 1970 into ms from now; 0:
 * invalid. */
static uint64_t duration_ms(struct fh_str s, int64_t now)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 } };
	fh_auto_free char *text = fh_xstrndup(s.p ? s.p : "", FH_MIN(s.n, (size_t)64));
	uint64_t until = 0;
	if (moment_ms(text, now, &until))
		return until;
	double total = 0;
	for (const char *p = text; *p;) {
		char *end;
		double n = strtod(p, &end);
		if (end == p || !(n >= 0) || n > 1e13)
			return 0;
		size_t u = 0;
		while (u < FH_ARRAY_SIZE(units) && !fh_starts_with(end, units[u].unit))
			u++;
		if (u == FH_ARRAY_SIZE(units) && *end)
			return 0;
		if (!*end && n > FH_RATE_EPOCH)
			return n > (double)now ? (uint64_t)((n - (double)now) * 1000) : 0;
		total += n * (u < FH_ARRAY_SIZE(units) ? units[u].ms : 1000);
		p = u < FH_ARRAY_SIZE(units) ? end + strlen(units[u].unit) : end;
	}
	return (uint64_t)total;
}

uint64_t fh_rate_pause_ms(struct fh_str headers, int64_t now)
{
	static const char *const counters[][2] = {
		{ "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests" },
		{ "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens" },
		{ "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset" },
		{ "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset" },
		{ "x-ratelimit-remaining", "x-ratelimit-reset" },
		{ "ratelimit-remaining", "ratelimit-reset" },
	};
	struct fh_str ms = fh_headers_find(headers, "retry-after-ms"), after = fh_headers_find(headers, "retry-after");
	if (ms.n) {
		fh_auto_free char *text = fh_xstrndup(ms.p, FH_MIN(ms.n, (size_t)32));
		double n = strtod(text, NULL);
		if (n > 0 && n < 1e12)
			return (uint64_t)n;
	}
	if (after.n)
		return duration_ms(after, now);
	uint64_t pause = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(counters); i++) {
		struct fh_str left = fh_headers_find(headers, counters[i][0]);
		if (left.n == 1 && left.p[0] == '0')
			pause = FH_MAX(pause, duration_ms(fh_headers_find(headers, counters[i][1]), now));
	}
	return pause;
}
