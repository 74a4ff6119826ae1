/* SPDX-License-Identifier: MIT */
/*
 * Finds processes that have their parent's address space, as after vfork and posix_spawn, so that its memory counts
 * once, for hosts without control groups.
 *
 * It may not make memory disappear. So a process is left out only when its parent was counted in the same sample,
 * before it, and the two have one address space now. A process gets another address space only by execve, which begins
 * with an empty one: what the parent was counted with is this address space, or one that it has given up since, and
 * then this one is younger than the sample. Everything else (a parent with a higher number, a parent that has gone, a
 * kernel or container that refuses kcmp) counts twice. Source: kcmp(2).
 */
#include "init/init.h"

#include <linux/kcmp.h>

enum {
	SPACES_MAX = 1024,
	WORTH_ASKING = 1 << 20, /* resident bytes */
};

static struct {
	uint64_t pid[SPACES_MAX], task[SPACES_MAX]; /* of the processes that were added, by ascending number */
	uint32_t count;
} spaces;

void fh_spaces_begin(void)
{
	spaces.count = 0;
}

/* The thread by which a process was added; 0: it was not. */
static uint64_t task_of(uint64_t pid)
{
	uint32_t low = 0, high = spaces.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (spaces.pid[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < spaces.count && spaces.pid[low] == pid ? spaces.task[low] : 0;
}

int fh_spaces_add_process(uint64_t pid, uint64_t task, uint64_t parent, uint64_t resident_bytes)
{
	if (resident_bytes < WORTH_ASKING)
		return 0;
	uint64_t above = task_of(parent);
	if (spaces.count < SPACES_MAX && (!spaces.count || spaces.pid[spaces.count - 1] < pid)) {
		spaces.pid[spaces.count] = pid;
		spaces.task[spaces.count++] = task;
	}
	return above && fh_sys(__NR_kcmp, above, task, KCMP_VM, 0, 0) == 0;
}
