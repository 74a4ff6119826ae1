/* SPDX-License-Identifier: MIT */
/*
 * A wall clock that is set forwards and backwards by a day, again and again, for a program that preloads this library:
 * it is a day ahead for a tenth of a second, then right, then a day behind, then right, and so on. Clocks that nobody
 * can set stay as they are.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#define EVERYBODY_S __attribute__((visibility("default")))

enum { A_DAY = 24 * 3600 };

static int clock_of(clockid_t id, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	return real(id, ret);
}

/* Seconds by which the wall clock is wrong now. */
static long wrong_by(void)
{
	static const long jumps[] = { A_DAY, 0, -A_DAY, 0 };
	struct timespec t;
	clock_of(CLOCK_MONOTONIC, &t);
	return jumps[((t.tv_sec * 10 + t.tv_nsec / 100000000) & 3)];
}

EVERYBODY_S int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = clock_of(id, ret);
	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ret->tv_sec += wrong_by();
	return r;
}

EVERYBODY_S int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &t) < 0)
		return -1;
	*ret = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
	return 0;
}

EVERYBODY_S time_t time(time_t *ret)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}
