/* SPDX-License-Identifier: MIT */
/*
 * Control groups: limits and usage of a whole process tree, on hosts with v2, v1, both or neither.
 *
 * fh_cgroup_host_open finds out once, for each controller, which hierarchy has it and whether we may make groups there.
 * All groups of an engine carry the engine's name, "fumehood-NS-PID-STARTTIME": on v2 they are in a folder of that
 * name, on v1 it is the prefix of their own names. So the groups of a killed engine can be told from those of a running
 * one (keeper.c). NS is the inode of the engine's pid namespace (combined with that of its time namespace), since PID
 * and STARTTIME mean nothing in another one. Sources: kernel Documentation/admin-guide/cgroup-v2.rst,
 * cgroup-v1/{memory,pids,cpuacct}.rst, scheduler/sched-bwc.rst.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

enum fh_controller { FH_CG_MEMORY, FH_CG_PIDS, FH_CG_CPU, FH_CG_CPUACCT, FH_CG_COUNT_ };

struct fh_cgroup_host {
	int version[FH_CG_COUNT_];      /* version of control groups: 2, 1, or 0 if the controller is not available */
	char parent[FH_CG_COUNT_][512]; /* folders in which groups are made; controllers of one hierarchy have the same */
	char prefix[112];               /* first part of the names of v1 groups: the engine's name and a dot */
	char freezer[512];              /* folder in which groups of the v1 freezer are made; "": not available */
	char why_not[160];              /* if no controller is available: the reason, for the user */
	bool made;                      /* the engine's folders were made */
};

/* Never fails: without control groups, every version is 0. On v2, makes the engine's own folder. */
void fh_cgroup_host_open(struct fh_cgroup_host *h);
void fh_cgroup_host_close(struct fh_cgroup_host *h); /* removes the engine's folders, which must have no groups left */
/* Removes the folders of dead engines and kills all processes in them. Returns how many were removed. */
size_t fh_cgroup_collect(void);
/* Does the same for one engine, named "fumehood-NS-PID-STARTTIME". Used by the keeper. */
size_t fh_cgroup_remove_engine(const char *name);
bool fh_cgroup_engine_name_of(pid_t pid, char *ret, size_t size);

struct fh_cgroup_limits {
	uint64_t memory_bytes, tasks, milli_cpus; /* FH_UNLIMITED: no limit; milli_cpus 0 too */
};
#define FH_CGROUP_LIMITS_INIT                                                                                          \
	{                                                                                                                  \
		.memory_bytes = FH_UNLIMITED, .tasks = FH_UNLIMITED                                                            \
	}

/* The control groups of one sandbox. A zeroed struct means no group. */
struct fh_cgroup {
	const struct fh_cgroup_host *host;
	char name[48];
	int dir[FH_CG_COUNT_];   /* descriptors of the folders, -1: no group; equal where controllers share a hierarchy */
	int procs[FH_CG_COUNT_]; /* v1: the `tasks` files, open for writing, one for each distinct folder; -1 otherwise */
	int oom;                 /* becomes readable (v1: EPOLLIN of an eventfd; v2: EPOLLPRI of memory.events), or -1 */
	bool oom_is_eventfd;
	bool nests;                     /* v1 memory: known to count the groups below it */
	struct fh_cgroup_limits limits; /* currently set */
};
#define FH_CGROUP_INIT                                                                                                 \
	{                                                                                                                  \
		.dir = { -1, -1, -1, -1 }, .procs = { -1, -1, -1, -1 }, .oom = -1, .limits = FH_CGROUP_LIMITS_INIT             \
	}

/* On failure nothing is left behind. */
int fh_cgroup_create(struct fh_cgroup *g, const struct fh_cgroup_host *h, const char *name,
                     const struct fh_cgroup_limits *limits, struct fh_error *err);
/* Makes a group below a sandbox's, for one of its programs and the processes that this starts. It counts CPU time and,
 * on v1, memory, which it can limit there. (On v2, a group with such a limit would allow no processes beside it in the
 * sandbox's group.) Fails with FH_E_UNAVAILABLE where the host cannot do it. */
int fh_cgroup_create_below(struct fh_cgroup *g, struct fh_cgroup *of, uint32_t number, uint64_t memory_bytes,
                           struct fh_error *err);
/* Opens the list of a group's processes (cgroup.procs) for reading, `count` times, because v1 shows new members only to
 * a file that is opened anew. The group is the one made below another, or the one of the hierarchy of `c`. Returns how
 * many are open: all or none. */
int fh_cgroup_members(const struct fh_cgroup *g, int *ret, int count);
int fh_cgroup_members_of(const struct fh_cgroup *g, enum fh_controller c, int *ret, int count);
/* Whether no process is in a group that was made below another. */
bool fh_cgroup_is_empty(const struct fh_cgroup *g);
/* Makes an empty group below another ready for the next program: its peak of memory starts again from what is still
 * charged, which goes to *ret_left. False: that cannot be done, or more than most_left is charged. */
bool fh_cgroup_renew(const struct fh_cgroup *g, uint64_t most_left, uint64_t *ret_left);
/* v2 only: freezes or thaws all processes of the group. -ENOTSUP: it is not a v2 group. */
int fh_cgroup_freeze(const struct fh_cgroup *g, bool frozen);
/* The v2 group's folder, for CLONE_INTO_CGROUP; -1: it is not a v2 group. */
int fh_cgroup_v2_dir(const struct fh_cgroup *g);
/* Moves the calling process into the v1 groups. It must have one thread. Allocates nothing, so it may be called after
 * fork. 0 or -errno. */
int fh_cgroup_enter(const struct fh_cgroup *g);
/* Descriptors through which a process forked by another enters the groups, by writing "0" to each; at most
 * FH_CG_COUNT_. The group keeps ownership of them. by_file: include v2, for a parent that may not use
 * CLONE_INTO_CGROUP. */
size_t fh_cgroup_entries(struct fh_cgroup *g, bool by_file, int *ret);
/* Two ways for a process to write "0" to: *ret_out leads it out of the group that limits memory into the one that the
 * engine is in, and leaves it in all others; *ret_back leads it in again, and stays the group's. v1 only, where memory
 * has a hierarchy of its own. */
bool fh_cgroup_memory_ways(const struct fh_cgroup *g, int *ret_out, int *ret_back);
/* Changes the limits of a group; 0 or -errno. fh_cgroup_fits tells whether its controllers can enforce these limits. */
int fh_cgroup_limit(struct fh_cgroup *g, const struct fh_cgroup_limits *l);
bool fh_cgroup_fits(const struct fh_cgroup *g, const struct fh_cgroup_limits *l);
/* Removes the groups and closes the descriptors. False: the kernel has not removed the last process yet, so try again
 * soon. */
bool fh_cgroup_remove(struct fh_cgroup *g);
/* closes the descriptors; the groups are left to the keeper or the next engine */
void fh_cgroup_abandon(struct fh_cgroup *g);

struct fh_cgroup_use {
	uint64_t cpu_user_us, cpu_sys_us;
	uint64_t memory_peak_bytes; /* 0: unknown */
	uint64_t tasks_peak;        /* the number includes init; 0: unknown */
	uint64_t oom_kills, fork_failures;
	uint64_t memory_bytes, tasks; /* Reads current values of a group; 0: unknown. */
};
uint64_t fh_cgroup_cpu_us(const struct fh_cgroup *g); /* Reads the CPU time alone, from one file. */
/* Reads the CPU time alone, split into user and system time. */
void fh_cgroup_cpu_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret);
/* Reads memory_peak_bytes, oom_kills, tasks_peak and fork_failures. Each figure costs a file to open. */
void fh_cgroup_counts(const struct fh_cgroup *g, struct fh_cgroup_use *ret);
void fh_cgroup_task_counts(const struct fh_cgroup *g, struct fh_cgroup_use *ret); /* The last two of these alone. */
void fh_cgroup_use(const struct fh_cgroup *g,
                   struct fh_cgroup_use *ret); /* Reads everything except memory_bytes and tasks. */
void fh_cgroup_now(const struct fh_cgroup *g, struct fh_cgroup_use *ret); /* Reads only memory_bytes and tasks. */

struct fh_cgroup_refaults {
	uint64_t refaulted_pages; /* pages of files that were read again after the kernel took them away from the group */
	uint64_t major_faults;    /* page faults that had to read a page */
};
/* All zero where no memory controller counts the group, and on kernels that do not tell. */
void fh_cgroup_refaults(const struct fh_cgroup *g, struct fh_cgroup_refaults *ret);
