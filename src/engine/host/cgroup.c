/* SPDX-License-Identifier: MIT */
#include "engine/host/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/host/cgroup_dialect.h"
#include "engine/host/cgroup_file.h"

/* --------------------------------------------------------------------------------------------------------- life */

/* The first controller whose groups are made in the same folder; c itself if there is none before it. */
static int shared_with(const struct fh_cgroup_host *h, int c)
{
	for (int i = 0; i < c; i++)
		if (h->version[i] && fh_streq(h->parent[i], h->parent[c]))
			return i;
	return c;
}

/* Whether the CPU rate is limited. The cpu controller counts nothing, so on v1 it needs a group only for that limit. */
static bool wants_rate(const struct fh_cgroup_limits *l)
{
	return l->milli_cpus && l->milli_cpus != FH_UNLIMITED;
}

static bool needs_cpu(const struct fh_cgroup_host *h, const struct fh_cgroup_limits *l)
{
	return wants_rate(l) || shared_with(h, FH_CG_CPUACCT) == FH_CG_CPU || h->version[FH_CG_CPU] == 2;
}

static void group_path(const struct fh_cgroup *g, int c, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%s%s", g->host->parent[c], g->host->version[c] == 1 ? g->host->prefix : "", g->name);
}

static int make_dir(struct fh_cgroup *g, int c, struct fh_error *err)
{
	char path[700];
	group_path(g, c, path, sizeof(path));
	if (mkdir(path, 0755) < 0)
		return fh_error_sys(err, errno, "cannot make control group %s", path);
	g->dir[c] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir[c] < 0) {
		fh_error_sys(err, errno, "cannot open control group %s", path);
		(void)rmdir(path);
		return -FH_E_SYSTEM;
	}
	/* v2 groups are entered by clone itself. v1 groups are entered through `tasks`: a single thread that moves itself
	 * does not take the lock over all thread groups that a write to cgroup.procs takes, whose writer waits for an RCU
	 * grace period. */
	if (g->host->version[c] == 2)
		return 0;
	g->procs[c] = openat(g->dir[c], "tasks", O_WRONLY | O_CLOEXEC);
	return g->procs[c] < 0 ? fh_error_sys(err, errno, "cannot open %s/tasks", path) : 0;
}

static int make_dirs(struct fh_cgroup *g, const struct fh_cgroup_limits *l, struct fh_error *err)
{
	int r = 0;
	for (int c = 0; r == 0 && c < FH_CG_COUNT_; c++) {
		int first = shared_with(g->host, c);
		if (!g->host->version[c] || (c == FH_CG_CPU && !needs_cpu(g->host, l)))
			continue;
		if (first != c)
			g->dir[c] = g->dir[first];
		else
			r = make_dir(g, c, err);
	}
	return r;
}

static uint64_t rate_of(const struct fh_cgroup_limits *l)
{
	return wants_rate(l) ? l->milli_cpus : 0;
}

/* Sets the limits that differ from those of the group. *ret_what names the limit that the kernel refused. */
static int set_limits(struct fh_cgroup *g, const struct fh_cgroup_limits *l, const char **ret_what)
{
	const struct fh_cgroup_host *h = g->host;
	const struct fh_cgroup_limits *old = &g->limits;
	int e = 0;
	*ret_what = "memory";
	if (h->version[FH_CG_MEMORY] && l->memory_bytes != old->memory_bytes) {
		int (*set)(int dir, uint64_t bytes) = fh_cgroup_dialect(g, FH_CG_MEMORY)->memory;
		uint64_t bytes = FH_MIN(l->memory_bytes, (uint64_t)INT64_MAX / 2);
		/* v1 refuses a memory limit above the limit of memory and swap together, and the latter below the former.
		 * Setting both twice sets them in the right order whether they rise or fall. */
		if (old->memory_bytes != FH_UNLIMITED)
			(void)set(g->dir[FH_CG_MEMORY], bytes);
		e = set(g->dir[FH_CG_MEMORY], bytes);
	}
	if (e == 0 && h->version[FH_CG_PIDS] && l->tasks != old->tasks) {
		*ret_what = "process";
		e = l->tasks == FH_UNLIMITED ? fh_cgroup_put(g->dir[FH_CG_PIDS], "pids.max", "max")
		                             : fh_cgroup_put_number(g->dir[FH_CG_PIDS], "pids.max", l->tasks);
	}
	if (e == 0 && h->version[FH_CG_CPU] && rate_of(l) != rate_of(old) && g->dir[FH_CG_CPU] >= 0) {
		*ret_what = "CPU rate";
		e = fh_cgroup_dialect(g, FH_CG_CPU)->cpu(g->dir[FH_CG_CPU], rate_of(l));
	}
	if (e == 0)
		g->limits = *l;
	return e;
}

int fh_cgroup_create(struct fh_cgroup *g, const struct fh_cgroup_host *h, const char *name,
                     const struct fh_cgroup_limits *l, struct fh_error *err)
{
	const char *what = "memory";
	*g = (struct fh_cgroup)FH_CGROUP_INIT;
	g->host = h;
	snprintf(g->name, sizeof(g->name), "%s", name);
	int e = 0, r = make_dirs(g, l, err);
	if (r == 0 && h->version[FH_CG_MEMORY])
		e = fh_cgroup_dialect(g, FH_CG_MEMORY)->watch_oom(g);
	if (r == 0 && e == 0)
		e = set_limits(g, l, &what);
	if (e)
		r = fh_error_sys(err, -e, "cannot set the %s limit of a control group", what);
	if (r)
		(void)fh_cgroup_remove(g);
	return r;
}

/* Whether the group counts those below it: v1 only where memory.use_hierarchy is on, as in newer kernels it always is.
 */
static bool counts_below(struct fh_cgroup *g, int c)
{
	if (c != FH_CG_MEMORY || g->host->version[c] != 1)
		return true;
	g->nests = g->nests || fh_cgroup_number(g->dir[c], "memory.use_hierarchy");
	return g->nests;
}

int fh_cgroup_create_below(struct fh_cgroup *g, struct fh_cgroup *of, uint32_t number, uint64_t memory_bytes,
                           struct fh_error *err)
{
	static const enum fh_controller wanted[] = { FH_CG_MEMORY, FH_CG_CPUACCT };
	const struct fh_cgroup_host *h = of->host;
	bool limited = memory_bytes != FH_UNLIMITED;
	int r = 0;
	*g = (struct fh_cgroup)FH_CGROUP_INIT;
	if (!h || (limited && h->version[FH_CG_MEMORY] != 1))
		return fh_error_set(err, FH_E_UNAVAILABLE, "no control group of this host can limit the memory of one command");
	g->host = h;
	snprintf(g->name, sizeof(g->name), "%.36s/%u", of->name, number);
	for (size_t i = 0; r == 0 && i < FH_ARRAY_SIZE(wanted); i++) {
		int c = wanted[i], first = shared_with(h, c);
		if (of->dir[c] < 0 || !counts_below(of, c))
			continue;
		if (g->dir[first] < 0) {
			r = make_dir(g, first, err);
			if (r == 0 && h->version[c] == 2)
				g->procs[first] = openat(g->dir[first], "cgroup.procs", O_WRONLY | O_CLOEXEC);
		}
		if (r == 0)
			g->dir[c] = g->dir[first];
	}
	g->limits.memory_bytes = memory_bytes;
	if (r == 0 && limited)
		r = g->dir[FH_CG_MEMORY] < 0 ? fh_error_set(err, FH_E_UNAVAILABLE,
		                                            "no control group of this host can limit the memory of one command")
		                             : fh_cgroup_dialect(g, FH_CG_MEMORY)->memory(g->dir[FH_CG_MEMORY], memory_bytes);
	bool any = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		any = any || g->dir[c] >= 0;
	if (r == 0 && !any)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "this host has no control group for a command");
	if (r)
		(void)fh_cgroup_remove(g);
	return r;
}

int fh_cgroup_members_of(const struct fh_cgroup *g, enum fh_controller c, int *ret, int count)
{
	int open = 0;
	for (; g->host && g->dir[c] >= 0 && open < count; open++) {
		ret[open] = openat(g->dir[c], "cgroup.procs", O_RDONLY | O_CLOEXEC);
		if (ret[open] < 0)
			break;
	}
	if (open == count)
		return count;
	while (open > 0)
		close(ret[--open]);
	return 0;
}

int fh_cgroup_members(const struct fh_cgroup *g, int *ret, int count)
{
	for (int c = 0; g->host && c < FH_CG_COUNT_; c++)
		if (g->dir[c] >= 0)
			return fh_cgroup_members_of(g, (enum fh_controller)c, ret, count);
	return 0;
}

bool fh_cgroup_is_empty(const struct fh_cgroup *g)
{
	char text[64];
	int fd;
	if (fh_cgroup_members(g, &fd, 1) != 1)
		return false;
	ssize_t n = read(fd, text, sizeof(text));
	close(fd);
	return n == 0;
}

bool fh_cgroup_renew(const struct fh_cgroup *g, uint64_t most_left, uint64_t *ret_left)
{
	int dir = g->dir[FH_CG_MEMORY];
	*ret_left = 0;
	if (!g->host->version[FH_CG_MEMORY] || dir < 0)
		return true;
	/* v2 has no memory controller here (fh_cgroup_create_below) */
	if (g->host->version[FH_CG_MEMORY] != 1 || fh_cgroup_put(dir, "memory.max_usage_in_bytes", "0") < 0)
		return false;
	*ret_left = fh_cgroup_number(dir, "memory.usage_in_bytes");
	return *ret_left <= most_left;
}

int fh_cgroup_freeze(const struct fh_cgroup *g, bool frozen)
{
	int dir = g->host ? fh_cgroup_v2_dir(g) : -1;
	return dir < 0 ? -ENOTSUP : fh_cgroup_put(dir, "cgroup.freeze", frozen ? "1" : "0");
}

int fh_cgroup_v2_dir(const struct fh_cgroup *g)
{
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (g->host->version[c] == 2 && g->dir[c] >= 0)
			return g->dir[c];
	return -1;
}

int fh_cgroup_enter(const struct fh_cgroup *g)
{
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (g->procs[c] >= 0 && fh_write_all(g->procs[c], "0", 1) < 0)
			return -errno;
	return 0;
}

size_t fh_cgroup_entries(struct fh_cgroup *g, bool by_file, int *ret)
{
	size_t n = 0;
	for (int c = 0; c < FH_CG_COUNT_; c++) {
		if (by_file && g->host->version[c] == 2 && g->dir[c] >= 0 && g->procs[c] < 0 && shared_with(g->host, c) == c)
			g->procs[c] = openat(g->dir[c], "cgroup.procs", O_WRONLY | O_CLOEXEC);
		if (g->procs[c] >= 0)
			ret[n++] = g->procs[c];
	}
	return n;
}

bool fh_cgroup_memory_ways(const struct fh_cgroup *g, int *ret_out, int *ret_back)
{
	const struct fh_cgroup_host *h = g->host;
	char path[560];
	if (!h || h->version[FH_CG_MEMORY] != 1 || g->procs[FH_CG_MEMORY] < 0)
		return false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (c != FH_CG_MEMORY && h->version[c] && shared_with(h, c) == FH_CG_MEMORY)
			return false;
	snprintf(path, sizeof(path), "%s/tasks", h->parent[FH_CG_MEMORY]);
	*ret_out = open(path, O_WRONLY | O_CLOEXEC);
	*ret_back = g->procs[FH_CG_MEMORY];
	return *ret_out >= 0;
}

bool fh_cgroup_fits(const struct fh_cgroup *g, const struct fh_cgroup_limits *l)
{
	return !g->host || !wants_rate(l) || !g->host->version[FH_CG_CPU] || g->dir[FH_CG_CPU] >= 0;
}

int fh_cgroup_limit(struct fh_cgroup *g, const struct fh_cgroup_limits *l)
{
	const char *what;
	return g->host ? set_limits(g, l, &what) : 0;
}

/* When a group is removed, the kernel keeps ten to a hundred KiB for it as long as memory holds a page of a file that a
 * program of the group was the first to read. Such dead groups are few in honest use, because the next program finds
 * the page in memory. But a program can drop pages of shared files and read them again, so that each run leaves a dead
 * group. Therefore, once the host has many of them, the engine gives a group's pages back before it removes the group:
 * all but those that wait to be written, for which it would have to wait for the disk. It does not do so always,
 * because the next program would have to read these files from the disk. The kernel sums up its counters only after
 * some hundred changes on each processor, so pages of a program that caused fewer changes are missed. */
static void give_pages_back(const struct fh_cgroup *g)
{
	enum { DEAD_GROUPS_MAX = 256 };
	char text[8192];
	int dir = g->dir[FH_CG_MEMORY];
	if (!g->host->version[FH_CG_MEMORY] || dir < 0 || !fh_cgroup_text(dir, "memory.stat", text, sizeof(text)))
		return;
	const struct fh_cgroup_dialect *d = fh_cgroup_dialect(g, FH_CG_MEMORY);
	uint64_t file = fh_cgroup_keyed(text, d->file), shared = fh_cgroup_keyed(text, d->shared);
	if (file > shared && !fh_cgroup_keyed(text, d->dirty) && !fh_cgroup_keyed(text, d->under_way) &&
	    d->dead(g->host) > DEAD_GROUPS_MAX)
		(void)d->reclaim(dir, file - shared);
}

/* False: the group still has processes. */
static bool remove_dir(const struct fh_cgroup *g, int c)
{
	char path[700];
	group_path(g, c, path, sizeof(path));
	return rmdir(path) == 0 || errno != EBUSY;
}

bool fh_cgroup_remove(struct fh_cgroup *g)
{
	if (!g->host)
		return true;
	give_pages_back(g);
	for (int c = 0; c < FH_CG_COUNT_; c++)
		if (g->dir[c] >= 0 && shared_with(g->host, c) == c && !remove_dir(g, c))
			return false;
	fh_cgroup_abandon(g);
	return true;
}

void fh_cgroup_abandon(struct fh_cgroup *g)
{
	for (int c = 0; g->host && c < FH_CG_COUNT_; c++) {
		if (g->procs[c] >= 0)
			close(g->procs[c]);
		if (g->dir[c] >= 0 && shared_with(g->host, c) == c)
			close(g->dir[c]);
	}
	if (g->oom >= 0)
		close(g->oom);
	*g = (struct fh_cgroup)FH_CGROUP_INIT;
}

/* ---------------------------------------------------------------------------------------------------------- use */

uint64_t fh_cgroup_cpu_us(const struct fh_cgroup *g)
{
	if (!g->host || !g->host->version[FH_CG_CPUACCT])
		return 0;
	return fh_cgroup_dialect(g, FH_CG_CPUACCT)->cpu_total(g->dir[FH_CG_CPUACCT]);
}

void fh_cgroup_cpu_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	if (g->host && g->host->version[FH_CG_CPUACCT] && g->dir[FH_CG_CPUACCT] >= 0)
		fh_cgroup_dialect(g, FH_CG_CPUACCT)->cpu_use(g->dir[FH_CG_CPUACCT], ret);
}

void fh_cgroup_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	*ret = (struct fh_cgroup_use){ 0 };
	fh_cgroup_cpu_use(g, ret);
	fh_cgroup_counts(g, ret);
}

void fh_cgroup_counts(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	if (!g->host)
		return;
	if (g->host->version[FH_CG_MEMORY] && g->dir[FH_CG_MEMORY] >= 0)
		fh_cgroup_dialect(g, FH_CG_MEMORY)->memory_use(g->dir[FH_CG_MEMORY], ret);
	fh_cgroup_task_counts(g, ret);
}

void fh_cgroup_task_counts(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	if (!g->host || !g->host->version[FH_CG_PIDS] || g->dir[FH_CG_PIDS] < 0) /* a program's group has none */
		return;
	ret->tasks_peak = fh_cgroup_number(g->dir[FH_CG_PIDS], "pids.peak"); /* since Linux 6.1 */
	ret->fork_failures = fh_cgroup_keyed_number(g->dir[FH_CG_PIDS], "pids.events", "max");
}

void fh_cgroup_now(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	*ret = (struct fh_cgroup_use){ 0 };
	if (!g->host)
		return;
	if (g->host->version[FH_CG_MEMORY])
		ret->memory_bytes = fh_cgroup_number(g->dir[FH_CG_MEMORY], fh_cgroup_dialect(g, FH_CG_MEMORY)->now);
	if (g->host->version[FH_CG_PIDS])
		ret->tasks = fh_cgroup_number(g->dir[FH_CG_PIDS], "pids.current");
}

void fh_cgroup_refaults(const struct fh_cgroup *g, struct fh_cgroup_refaults *ret)
{
	char text[8192];
	int dir = g->host && g->host->version[FH_CG_MEMORY] ? g->dir[FH_CG_MEMORY] : -1;
	*ret = (struct fh_cgroup_refaults){ 0 };
	if (dir < 0 || !fh_cgroup_text(dir, "memory.stat", text, sizeof(text)))
		return;
	ret->refaulted_pages = fh_cgroup_keyed(text, fh_cgroup_dialect(g, FH_CG_MEMORY)->refaults);
	ret->major_faults = fh_cgroup_keyed(text, fh_cgroup_dialect(g, FH_CG_MEMORY)->major_faults);
}
