/* SPDX-License-Identifier: MIT */
#include "sandbox/planning/share.h"

#include <time.h>

#include "base/base.h"
#include "base/clock.h"

/* CPU time over which a share is measured: several time slices of the scheduler */
#define COMPUTED_NS (30 * FH_NS_PER_MS)
#define ENOUGH 0.9 /* share of a processor from which on the machine is not overloaded */
#define BUSY 0.5   /* share of the available CPU time from which on a program counts as computing */
#define SPARE 1.5  /* factor for safety, because shares change */

static int64_t thread_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * FH_NS_PER_S + t.tv_nsec;
}

double fh_share_measure(void)
{
	int64_t wall = fh_now_ns(), cpu = thread_ns(), computed;
	do
		computed = thread_ns() - cpu;
	while (computed < COMPUTED_NS);
	return FH_MIN(1.0, (double)computed / (double)(fh_now_ns() - wall));
}

unsigned fh_share_wall_factor(const struct fh_limits *limits, uint64_t cpu_us, double share)
{
	double cpu_limit = (double)limits->value[FH_LIMIT_CPU_TIME], wall = (double)limits->value[FH_LIMIT_WALL_TIME];
	double cpu = (double)cpu_us / 1000;
	if (share >= ENOUGH || cpu < wall * share * BUSY || cpu <= 0)
		return 1;
	/* the factor needed at this share to reach the CPU time limit, or to get what the wall time limit allows on an idle
	 * machine */
	double factor = FH_MIN(SPARE * FH_MIN(cpu_limit, wall) / cpu, (double)FH_SHARE_FACTOR_MAX);
	return (unsigned)factor + (factor > (unsigned)factor);
}
