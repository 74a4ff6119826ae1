/* SPDX-License-Identifier: MIT */
/*
 * How each version of control groups words a limit and tells a usage; what asks for them (cgroup.c) knows no version.
 * The files and keys are those of the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
 *
 * dir is the open folder of a group below the controller that the function speaks of. Functions that return int return
 * 0 or a negative errno.
 */
#pragma once
#include "engine/host/cgroup.h"

/* What differs between the versions of control groups. */
struct fh_cgroup_dialect {
	int (*memory)(int dir, uint64_t bytes);
	int (*cpu)(int dir, uint64_t milli_cpus); /* 0: no limit */
	int (*watch_oom)(struct fh_cgroup *g);
	void (*cpu_use)(int dir, struct fh_cgroup_use *u);
	uint64_t (*cpu_total)(int dir);
	void (*memory_use)(int dir, struct fh_cgroup_use *u);
	int (*reclaim)(int dir, uint64_t bytes);
	uint64_t (*dead)(const struct fh_cgroup_host *h);
	/* keys of memory.stat, for a group with those below it: pages of files, those of them that are no disk's, and those
	 * that are yet to be written */
	const char *file, *shared, *dirty, *under_way;
	/* file that tells what is charged now; keys of memory.stat: pages of files that were read again after the kernel
	 * took them away, and page faults that had to read */
	const char *now, *refaults, *major_faults;
};

/* The row of the version that the group's host has this controller in. */
const struct fh_cgroup_dialect *fh_cgroup_dialect(const struct fh_cgroup *g, enum fh_controller c);
