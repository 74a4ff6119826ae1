// SPDX-License-Identifier: MIT
#include "engine/host/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* ------------------------------------------------------------------------------------------------- small files */

static bool get_text(int dir, const char *file, char *buffer, size_t size)
{
	fh_auto_close int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);
	buffer[n > 0 ? n : 0] = 0;
	return n > 0;
}

static uint64_t get_number(int dir, const char *file)
{
	char text[64];
	return get_text(dir, file, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* The value of `key` in "key value" lines; 0 if they have none. */
static uint64_t keyed(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n] == ' ')
			return strtoull(p + n, NULL, 10);
	return 0;
}

/* The same in a short file, such as cpu.stat and memory.events. */
static uint64_t get_keyed(int dir, const char *file, const char *key)
{
	char text[1024];
	return get_text(dir, file, text, sizeof(text)) ? keyed(text, key) : 0;
}

/* Repeats the write after EINTR: control groups v1 return it for a memory limit when the writer was frozen, stopped or
 * traced meanwhile. */
static int put(int dir, const char *file, const char *text)
{
	fh_auto_close int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && fh_write_all(fd, text, strlen(text)) == 0 ? 0 : -errno;
}

static int put_number(int dir, const char *file, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return put(dir, file, text);
}

/* ------------------------------------------------------------------------------------------------------- limits */

/* What differs between the versions of control groups; one row for each version. */
struct dialect {
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

enum {
	CPU_PERIOD_US = 10000, /* a short period, so that a program that has used up its share is not stopped for long */
	CPU_QUOTA_MIN_US = 1000,
};

/* The kernel accepts no quota below 1 ms, so a small share needs a longer period, up to the kernel's maximum of 1 s. */
static uint64_t cpu_period(uint64_t milli)
{
	return milli * CPU_PERIOD_US / 1000 >= CPU_QUOTA_MIN_US ? CPU_PERIOD_US : CPU_QUOTA_MIN_US * 1000 / milli;
}

static uint64_t cpu_quota(uint64_t milli)
{
	return FH_MAX(milli * cpu_period(milli) / 1000, (uint64_t)CPU_QUOTA_MIN_US);
}

static int v2_memory(int dir, uint64_t bytes)
{
	int r = put_number(dir, "memory.max", bytes);
	(void)put(dir, "memory.swap.max", "0"); /* the kernel has no such file where swap accounting is off */
	return r;
}

static int v2_cpu(int dir, uint64_t milli)
{
	char text[64] = "max";
	if (milli)
		snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)cpu_quota(milli),
		         (unsigned long long)cpu_period(milli));
	return put(dir, "cpu.max", text);
}

static int v2_watch_oom(struct fh_cgroup *g)
{
	char drain[512];
	g->oom = openat(g->dir[FH_CG_MEMORY], "memory.events", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (g->oom < 0)
		return -errno;
	/* the read arms the descriptor: the next change wakes a poller */
	return read(g->oom, drain, sizeof(drain)) < 0 ? -errno : 0;
}

static void v2_cpu_use(int dir, struct fh_cgroup_use *u)
{
	u->cpu_user_us = get_keyed(dir, "cpu.stat", "user_usec");
	u->cpu_sys_us = get_keyed(dir, "cpu.stat", "system_usec");
}

static uint64_t v2_cpu_total(int dir)
{
	return get_keyed(dir, "cpu.stat", "usage_usec");
}

static void v2_memory_use(int dir, struct fh_cgroup_use *u)
{
	u->memory_peak_bytes = get_number(dir, "memory.peak"); /* since Linux 5.19 */
	u->oom_kills = get_keyed(dir, "memory.events", "oom_kill");
}

static int v2_reclaim(int dir, uint64_t bytes)
{
	return put_number(dir, "memory.reclaim", bytes); /* since Linux 5.19 */
}

/* Asks the folder above the engine's own, because dead groups of earlier engines are counted there. */
static uint64_t v2_dead(const struct fh_cgroup_host *h)
{
	fh_auto_close int dir = open(h->parent[FH_CG_MEMORY], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? UINT64_MAX : get_keyed(dir, "../cgroup.stat", "nr_dying_descendants");
}

static int v1_memory(int dir, uint64_t bytes)
{
	int r = put_number(dir, "memory.limit_in_bytes", bytes);
	(void)put_number(dir, "memory.memsw.limit_in_bytes", bytes);
	(void)put(dir, "memory.swappiness", "0");
	return r;
}

static int v1_cpu(int dir, uint64_t milli)
{
	if (milli == 0)
		return put(dir, "cpu.cfs_quota_us", "-1");
	int r = put_number(dir, "cpu.cfs_period_us", cpu_period(milli));
	return r ? r : put_number(dir, "cpu.cfs_quota_us", cpu_quota(milli));
}

static int v1_watch_oom(struct fh_cgroup *g)
{
	int dir = g->dir[FH_CG_MEMORY];
	char text[64];
	fh_auto_close int control = openat(dir, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	g->oom = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control < 0 || g->oom < 0)
		return -errno;
	g->oom_is_eventfd = true;
	snprintf(text, sizeof(text), "%d %d", g->oom, control);
	return put(dir, "cgroup.event_control", text);
}

static uint64_t v1_cpu_total(int dir)
{
	return get_number(dir, "cpuacct.usage") / 1000;
}

/* cpuacct's total is exact. Its user and system parts are counted in clock ticks, so they only give the ratio of the
 * split. */
static void v1_cpu_use(int dir, struct fh_cgroup_use *u)
{
	uint64_t total = v1_cpu_total(dir);
	double user = (double)get_number(dir, "cpuacct.usage_user"), sys = (double)get_number(dir, "cpuacct.usage_sys");
	u->cpu_sys_us = user + sys > 0 ? (uint64_t)((double)total * (sys / (user + sys))) : 0;
	u->cpu_user_us = total - FH_MIN(u->cpu_sys_us, total);
}

static void v1_memory_use(int dir, struct fh_cgroup_use *u)
{
	u->memory_peak_bytes = get_number(dir, "memory.max_usage_in_bytes");
	u->oom_kills = get_keyed(dir, "memory.oom_control", "oom_kill");
}

static int v1_reclaim(int dir, uint64_t bytes)
{
	(void)bytes;
	return put(dir, "memory.force_empty", "0");
}

/* The third column of /proc/cgroups counts dead groups and living ones. */
static uint64_t v1_dead(const struct fh_cgroup_host *h)
{
	(void)h;
	char text[2048];
	unsigned long long groups;
	const char *row = get_text(AT_FDCWD, "/proc/cgroups", text, sizeof(text)) ? strstr(text, "\nmemory\t") : NULL;
	return row && sscanf(row, " memory %*u %llu", &groups) == 1 ? groups : UINT64_MAX;
}

static const struct dialect dialects[] = {
	[1] = { .memory = v1_memory,
	        .cpu = v1_cpu,
	        .watch_oom = v1_watch_oom,
	        .cpu_use = v1_cpu_use,
	        .cpu_total = v1_cpu_total,
	        .memory_use = v1_memory_use,
	        .reclaim = v1_reclaim,
	        .dead = v1_dead,
	        .file = "total_cache",
	        .shared = "total_shmem",
	        .dirty = "total_dirty",
	        .under_way = "total_writeback",
	        .now = "memory.usage_in_bytes",
	        .refaults = "total_workingset_refault_file",
	        .major_faults = "total_pgmajfault" },
	[2] = { .memory = v2_memory,
	        .cpu = v2_cpu,
	        .watch_oom = v2_watch_oom,
	        .cpu_use = v2_cpu_use,
	        .cpu_total = v2_cpu_total,
	        .memory_use = v2_memory_use,
	        .reclaim = v2_reclaim,
	        .dead = v2_dead,
	        .file = "file",
	        .shared = "shmem",
	        .dirty = "file_dirty",
	        .under_way = "file_writeback",
	        .now = "memory.current",
	        .refaults = "workingset_refault_file",
	        .major_faults = "pgmajfault" },
};

static const struct dialect *dialect(const struct fh_cgroup *g, enum fh_controller c)
{
	return &dialects[g->host->version[c]];
}

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
		int (*set)(int dir, uint64_t bytes) = dialect(g, FH_CG_MEMORY)->memory;
		uint64_t bytes = FH_MIN(l->memory_bytes, (uint64_t)INT64_MAX / 2);
		/* v1 refuses a memory limit above the limit of memory and swap together, and the latter below the former.
		 * Setting both twice sets them in the right order whether they rise or fall. */
		if (old->memory_bytes != FH_UNLIMITED)
			(void)set(g->dir[FH_CG_MEMORY], bytes);
		e = set(g->dir[FH_CG_MEMORY], bytes);
	}
	if (e == 0 && h->version[FH_CG_PIDS] && l->tasks != old->tasks) {
		*ret_what = "process";
		e = l->tasks == FH_UNLIMITED ? put(g->dir[FH_CG_PIDS], "pids.max", "max")
		                             : put_number(g->dir[FH_CG_PIDS], "pids.max", l->tasks);
	}
	if (e == 0 && h->version[FH_CG_CPU] && rate_of(l) != rate_of(old) && g->dir[FH_CG_CPU] >= 0) {
		*ret_what = "CPU rate";
		e = dialect(g, FH_CG_CPU)->cpu(g->dir[FH_CG_CPU], rate_of(l));
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
		e = dialect(g, FH_CG_MEMORY)->watch_oom(g);
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
	g->nests = g->nests || get_number(g->dir[c], "memory.use_hierarchy");
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
		                             : v1_memory(g->dir[FH_CG_MEMORY], memory_bytes);
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
	if (g->host->version[FH_CG_MEMORY] != 1 || put(dir, "memory.max_usage_in_bytes", "0") < 0)
		return false;
	*ret_left = get_number(dir, "memory.usage_in_bytes");
	return *ret_left <= most_left;
}

int fh_cgroup_freeze(const struct fh_cgroup *g, bool frozen)
{
	int dir = g->host ? fh_cgroup_v2_dir(g) : -1;
	return dir < 0 ? -ENOTSUP : put(dir, "cgroup.freeze", frozen ? "1" : "0");
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
	if (!g->host->version[FH_CG_MEMORY] || dir < 0 || !get_text(dir, "memory.stat", text, sizeof(text)))
		return;
	const struct dialect *d = dialect(g, FH_CG_MEMORY);
	uint64_t file = keyed(text, d->file), shared = keyed(text, d->shared);
	if (file > shared && !keyed(text, d->dirty) && !keyed(text, d->under_way) && d->dead(g->host) > DEAD_GROUPS_MAX)
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
	return dialect(g, FH_CG_CPUACCT)->cpu_total(g->dir[FH_CG_CPUACCT]);
}

void fh_cgroup_cpu_use(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	if (g->host && g->host->version[FH_CG_CPUACCT] && g->dir[FH_CG_CPUACCT] >= 0)
		dialect(g, FH_CG_CPUACCT)->cpu_use(g->dir[FH_CG_CPUACCT], ret);
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
		dialect(g, FH_CG_MEMORY)->memory_use(g->dir[FH_CG_MEMORY], ret);
	fh_cgroup_task_counts(g, ret);
}

void fh_cgroup_task_counts(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	if (!g->host || !g->host->version[FH_CG_PIDS] || g->dir[FH_CG_PIDS] < 0) /* a program's group has none */
		return;
	ret->tasks_peak = get_number(g->dir[FH_CG_PIDS], "pids.peak"); /* since Linux 6.1 */
	ret->fork_failures = get_keyed(g->dir[FH_CG_PIDS], "pids.events", "max");
}

void fh_cgroup_now(const struct fh_cgroup *g, struct fh_cgroup_use *ret)
{
	*ret = (struct fh_cgroup_use){ 0 };
	if (!g->host)
		return;
	if (g->host->version[FH_CG_MEMORY])
		ret->memory_bytes = get_number(g->dir[FH_CG_MEMORY], dialect(g, FH_CG_MEMORY)->now);
	if (g->host->version[FH_CG_PIDS])
		ret->tasks = get_number(g->dir[FH_CG_PIDS], "pids.current");
}

void fh_cgroup_refaults(const struct fh_cgroup *g, struct fh_cgroup_refaults *ret)
{
	char text[8192];
	int dir = g->host && g->host->version[FH_CG_MEMORY] ? g->dir[FH_CG_MEMORY] : -1;
	*ret = (struct fh_cgroup_refaults){ 0 };
	if (dir < 0 || !get_text(dir, "memory.stat", text, sizeof(text)))
		return;
	ret->refaulted_pages = keyed(text, dialect(g, FH_CG_MEMORY)->refaults);
	ret->major_faults = keyed(text, dialect(g, FH_CG_MEMORY)->major_faults);
}
