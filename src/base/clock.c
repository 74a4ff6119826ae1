/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

int64_t fh_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * FH_NS_PER_S + t.tv_nsec;
}

int64_t fh_wall_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t fh_wall_ms(void)
{
	return fh_wall_us() / 1000;
}

void fh_sleep_ns(int64_t ns)
{
	if (ns <= 0)
		return;
	int64_t end = fh_now_ns() + ns;
	struct timespec t = { .tv_sec = end / FH_NS_PER_S, .tv_nsec = end % FH_NS_PER_S };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

const char *fh_iso_time(int64_t wall_ms, char buf[32])
{
	/* Rounds down, so that the milliseconds are never negative before 1970. */
	int64_t ms = (wall_ms % 1000 + 1000) % 1000;
	time_t s = (time_t)((wall_ms - ms) / 1000);
	struct tm tm;
	char date[24];
	if (!gmtime_r(&s, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		buf[0] = '\0';
		return buf;
	}
	snprintf(buf, 32, "%s.%03dZ", date, (int)ms);
	return buf;
}

int64_t fh_in_ms(int64_t ms)
{
	return fh_now_ns() + ms * FH_NS_PER_MS;
}
