/* SPDX-License-Identifier: MIT */
/*
 * Sessions whose share of the processors was lowered.
 *
 * Where no group of the `cpu` controller holds a sandbox, the kernel may give each of its sessions a share of the
 * processors (kernel.sched_autogroup_enabled). A program can lower that of a session of its own by a number in
 * /proc/self/autogroup. What runs there is then kept from the processors by busy loops in other sessions of the same
 * program, for seconds, with whatever locks of the kernel it holds, for which others on the host wait. No mount covers
 * that file for processes that are yet to come, and no filter sees it; refusing to write all of /proc would take the
 * names of threads and oom_score_adj away. But nobody else writes there, so a sandbox that has such a session is ended,
 * all of it: the one that holds a lock can only die when the busy loops let it. Source: sched(7), "The autogroup
 * feature".
 */
#include "init/init.h"

#include <signal.h>

enum { PERIOD_NS = 100000000 };

static int64_t due_ns;

/* The number that lowers a session's share: 0 to 19; better than 0 takes a privilege. */
static uint64_t lowered_by(const char *pid)
{
	char text[64]; /* "/autogroup-N nice N", or nothing where sessions have no share */
	int fd = fh_open_of(pid, "autogroup", 0);
	long n = fd >= 0 ? fh_sys(__NR_read, fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		fh_sys(__NR_close, fd);
	text[n > 0 ? n : 0] = 0;
	for (const char *p = text; *p; p++)
		if (fh_begins(p, " nice ")) {
			p += 6;
			return fh_number_in(&p, 10);
		}
	return 0;
}

static int is_not_lowered(const char *pid, void *own)
{
	return lowered_by(pid) <= *(const uint64_t *)own;
}

int fh_shares_are_due(void)
{
	return fh_clock_ns(FH_CLOCK_MONOTONIC) >= due_ns;
}

void fh_shares_look(void)
{
	if (!fh_shares_are_due())
		return;
	uint64_t own = lowered_by("self"); /* the starter's, which programs inherit until they begin a session */
	if (!fh_each_process(is_not_lowered, &own))
		fh_sys(__NR_kill, -1, SIGKILL);
	due_ns = fh_clock_ns(FH_CLOCK_MONOTONIC) + PERIOD_NS;
}
