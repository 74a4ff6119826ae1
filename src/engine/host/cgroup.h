/* SPDX-License-Identifier: MIT */
/*
 * Control groups: the limits and the use of a whole process tree, on v2, v1 and hybrid hosts, or not at all.
 *
 * The host is looked at once (fh_cgroup_host_open): for each controller, which hierarchy carries it and whether we may
 * make groups there. All groups of an engine carry its name, "fumehood-NS-PID-STARTTIME", on v2 as the folder that
 * they lie in, on v1 in front of their own name, so that what a killed engine leaves can be told from what is alive
 * (keeper.c); NS is the inode of the engine's pid namespace (and time namespace), outside which its PID (and start
 * time) say nothing. Sources: kernel Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/{memory,pids,cpuacct}.rst,
 * scheduler/sched-bwc.rst.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

enum fh_controller { FH_CG_MEMORY, FH_CG_PIDS, FH_CG_CPU, FH_CG_CPUACCT, FH_CG_COUNT_ };

struct fh_cgroup_host {
	int version[FH_CG_COUNT_];      /* 2, 1, or 0: not to be had */
	char parent[FH_CG_COUNT_][512]; /* where groups are made; controllers that share a hierarchy share it */
	char prefix[112];               /* of the names of v1 groups: the engine's and a dot */
	char freezer[512];              /* where groups of the v1 freezer are made; "": not to be had */
	char why_not[160];              /* when nothing is to be had: the reason, for people */
	bool made;                      /* the engine's folders exist */
};

/* Never fails: a host without groups is one where every version is 0. On v2, makes the engine's own folder. */
void fh_cgroup_host_open(struct fh_cgroup_host *h);
void fh_cgroup_host_close(struct fh_cgroup_host *h); /* removes the folders, which must be empty */
/* Removes folders of engines that are dead, killing what is left in them. Returns how many. */
size_t fh_cgroup_collect(void);
/* The same for one engine by its name "fumehood-NS-PID-STARTTIME" (the keeper's use). */
size_t fh_cgroup_remove_engine(const char *name);
bool fh_cgroup_engine_name_of(pid_t pid, char *ret, size_t size);

struct fh_cgroup_limits {
	uint64_t memory_bytes, tasks, milli_cpus; /* FH_UNLIMITED: none; milli_cpus 0: none */
};
#define FH_CGROUP_LIMITS_INIT                                                                                          \
	{                                                                                                                  \
		.memory_bytes = FH_UNLIMITED, .tasks = FH_UNLIMITED                                                            \
	}

/* One sandbox's groups. Zeroed memory is no group. */
struct fh_cgroup {
	const struct fh_cgroup_host *host;
	char name[48];
	int dir[FH_CG_COUNT_];   /* open folders, -1 where there is none; equal where controllers share one */
	int procs[FH_CG_COUNT_]; /* v1: tasks, for writing, one for each distinct folder; -1 otherwise */
	int oom;                 /* becomes readable (v1: EPOLLIN of an eventfd; v2: EPOLLPRI of memory.events), or -1 */
	bool oom_is_eventfd;
	struct fh_cgroup_limits limits; /* that it has */
};
#define FH_CGROUP_INIT                                                                                                 \
	{                                                                                                                  \
		.dir = { -1, -1, -1, -1 }, .procs = { -1, -1, -1, -1 }, .oom = -1, .limits = FH_CGROUP_LIMITS_INIT             \
	}

/* A failure leaves none. */
int fh_cgroup_create(struct fh_cgroup *g, const struct fh_cgroup_host *h, const char *name,
                     const struct fh_cgroup_limits *limits, struct fh_error *err);
/* A group below a sandbox's, for one of its programs and what that starts: it counts CPU time and, on v1, memory, which
 * it can limit there (v2 would have no process beside a group that limits). FH_E_UNAVAILABLE: there is none here. */
int fh_cgroup_create_below(struct fh_cgroup *g, const struct fh_cgroup *of, uint32_t number, uint64_t memory_bytes,
                           struct fh_error *err);
/* cgroup.procs of a group of its own, or of the hierarchy of `c`, for reading; -errno. */
int fh_cgroup_members(const struct fh_cgroup *g);
int fh_cgroup_members_of(const struct fh_cgroup *g, enum fh_controller c);
/* v2: holds all in it still, or lets go; -ENOTSUP: not a v2 group. */
int fh_cgroup_freeze(const struct fh_cgroup *g, bool frozen);
/* The v2 group's folder, for CLONE_INTO_CGROUP; -1: there is none. */
int fh_cgroup_v2_dir(const struct fh_cgroup *g);
/* Puts the calling process, which has one thread, into the v1 groups: after fork, no allocation. 0 or -errno. */
int fh_cgroup_enter(const struct fh_cgroup *g);
/* For a process that another forks: descriptors to each of which it writes "0" to enter, at most FH_CG_COUNT_; they
 * stay the group's. by_file: v2 too (whoever forks may not use CLONE_INTO_CGROUP there). */
size_t fh_cgroup_entries(struct fh_cgroup *g, bool by_file, int *ret);
/* Other limits than those it has; 0 or -errno. fh_cgroup_fits: whether that can be. */
int fh_cgroup_limit(struct fh_cgroup *g, const struct fh_cgroup_limits *l);
bool fh_cgroup_fits(const struct fh_cgroup *g, const struct fh_cgroup_limits *l);
/* False: still busy (its last process is being taken down), try again soon. Closes everything when true. */
bool fh_cgroup_remove(struct fh_cgroup *g);
void fh_cgroup_abandon(struct fh_cgroup *g); /* only closes: what is left is for who cleans up after the engine */

struct fh_cgroup_use {
	uint64_t cpu_user_us, cpu_sys_us;
	uint64_t memory_peak_bytes; /* 0: not known */
	uint64_t tasks_peak;        /* our init among them; 0: not known */
	uint64_t oom_kills, fork_failures;
	uint64_t memory_bytes, tasks; /* now; 0: not known */
};
uint64_t fh_cgroup_cpu_us(const struct fh_cgroup *g);                         /* the cheap part, for the clock */
void fh_cgroup_cpu_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret); /* CPU time alone */
void fh_cgroup_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret);     /* everything but what is now */
void fh_cgroup_now(const struct fh_cgroup *g, struct fh_cgroup_use *ret);     /* memory and tasks now */
