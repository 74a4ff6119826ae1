/* SPDX-License-Identifier: MIT */
/*
 * Control groups of version 1 that have had a sandbox and wait for the next.
 *
 * A sandbox costs three of them there, in hierarchies of their own, and the kernel takes a removed memory group apart
 * for long afterwards: a parked run of a small program took 7 to 9 % more CPU time with new ones. A group serves again
 * only when nobody is in it and each of its counters reads as a new one's (fh_cgroup_reset); what the kernel keeps
 * charged to it (pages of files that a program was the first to read, its own tables) is looked at when it is taken,
 * and above FH_CGROUP_LEFT_MAX it is removed instead. Version 2 has one hierarchy, and counters that cannot be set
 * back.
 */
#pragma once
#include "engine/cgroup.h"

enum {
	FH_CGROUP_IDLE_MAX = 16,
	FH_CGROUP_LEFT_MAX = 1 << 20, /* bytes: the next sandbox has so much less at most */
};

/* Zeroed memory is an empty pool. Owns what it holds; the oldest goes first, when the kernel had time to tidy it. */
struct fh_cgroup_pool {
	struct fh_cgroup idle[FH_CGROUP_IDLE_MAX];
	size_t first, count;
};

/* False: there is none. *ret can be given to fh_cgroup_create. */
bool fh_cgroup_pool_take(struct fh_cgroup_pool *p, struct fh_cgroup *ret);
/* Keeps or removes the groups of a sandbox whose processes are dead. False: still busy, try again soon. */
bool fh_cgroup_pool_give(struct fh_cgroup_pool *p, struct fh_cgroup *g);
void fh_cgroup_pool_clear(struct fh_cgroup_pool *p);
