/* SPDX-License-Identifier: MIT */
/*
 * Files in memory whose pages no figure of a process shows, for hosts without control groups: shared memory whose pages
 * were taken out of the page tables again (madvise) or never put there, and that no process holds open; files on
 * their way through a socket; and files of processes whose descriptors cannot be listed.
 *
 * Nothing tells the size of such a file. What can be seen is that there may be one: a mapping of a file that nobody
 * holds, a descriptor in a socket, or a process that is not dumpable. Where that is so, memory of this kind that the
 * host has more than at a time when it was not so, and that is not counted elsewhere, counts as the sandbox's. Source:
 * proc_meminfo(5).
 */
#include "init/init.h"

enum {
	TOLERANCE = 32 << 20, /* others on the host use such memory as well */
	LOOK_NS = 20000000,
};

struct look {
	const struct fh_init *in;
	int64_t until_ns;
};

/* Helpers are not dumpable, so that their mappings cannot be read; but they map no such files. */
static int maps_unheld(const char *pid, void *data)
{
	const struct look *look = data;
	char living[12];
	if (fh_is_helper(look->in, pid))
		return 1;
	int r = fh_shared_unheld(pid, look->until_ns);
	if (r < 0 && fh_living_thread(pid, living, sizeof(living)))
		r = fh_shared_unheld(living, look->until_ns);
	return r <= 0;
}

/* As fh_descriptors_pass. */
static int may_be_hidden(const struct fh_init *in)
{
	struct look look = { in, fh_clock_ns(FH_CLOCK_MONOTONIC) + LOOK_NS };
	return fh_memfds_are_closed() || !fh_each_process(maps_unheld, &look) ? 1 : fh_descriptors_pass();
}

uint64_t fh_hidden_bytes(const struct fh_init *in, uint64_t counted)
{
	static uint64_t before;
	uint64_t all = fh_meminfo_bytes(fh_meminfo(), "Shmem:"), others = all > counted ? all - counted : 0;
	if (!before || others < before)
		before = others;
	if (others - before <= TOLERANCE)
		return 0;
	int hidden = may_be_hidden(in);
	if (hidden > 0)
		return others - before - TOLERANCE;
	if (!hidden)
		before = others;
	return 0;
}
