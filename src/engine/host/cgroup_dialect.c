/* SPDX-License-Identifier: MIT */
#include "engine/host/cgroup_dialect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/host/cgroup_file.h"

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
	int r = fh_cgroup_put_number(dir, "memory.max", bytes);
	(void)fh_cgroup_put(dir, "memory.swap.max", "0"); /* the kernel has no such file where swap accounting is off */
	return r;
}

static int v2_cpu(int dir, uint64_t milli)
{
	char text[64] = "max";
	if (milli)
		snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)cpu_quota(milli),
		         (unsigned long long)cpu_period(milli));
	return fh_cgroup_put(dir, "cpu.max", text);
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
	u->cpu_user_us = fh_cgroup_keyed_number(dir, "cpu.stat", "user_usec");
	u->cpu_sys_us = fh_cgroup_keyed_number(dir, "cpu.stat", "system_usec");
}

static uint64_t v2_cpu_total(int dir)
{
	return fh_cgroup_keyed_number(dir, "cpu.stat", "usage_usec");
}

static void v2_memory_use(int dir, struct fh_cgroup_use *u)
{
	u->memory_peak_bytes = fh_cgroup_number(dir, "memory.peak"); /* since Linux 5.19 */
	u->oom_kills = fh_cgroup_keyed_number(dir, "memory.events", "oom_kill");
}

static int v2_reclaim(int dir, uint64_t bytes)
{
	return fh_cgroup_put_number(dir, "memory.reclaim", bytes); /* since Linux 5.19 */
}

/* Asks the folder above the engine's own, because dead groups of earlier engines are counted there. */
static uint64_t v2_dead(const struct fh_cgroup_host *h)
{
	fh_auto_close int dir = open(h->parent[FH_CG_MEMORY], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? UINT64_MAX : fh_cgroup_keyed_number(dir, "../cgroup.stat", "nr_dying_descendants");
}

static int v1_memory(int dir, uint64_t bytes)
{
	int r = fh_cgroup_put_number(dir, "memory.limit_in_bytes", bytes);
	(void)fh_cgroup_put_number(dir, "memory.memsw.limit_in_bytes", bytes);
	(void)fh_cgroup_put(dir, "memory.swappiness", "0");
	return r;
}

static int v1_cpu(int dir, uint64_t milli)
{
	if (milli == 0)
		return fh_cgroup_put(dir, "cpu.cfs_quota_us", "-1");
	int r = fh_cgroup_put_number(dir, "cpu.cfs_period_us", cpu_period(milli));
	return r ? r : fh_cgroup_put_number(dir, "cpu.cfs_quota_us", cpu_quota(milli));
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
	return fh_cgroup_put(dir, "cgroup.event_control", text);
}

static uint64_t v1_cpu_total(int dir)
{
	return fh_cgroup_number(dir, "cpuacct.usage") / 1000;
}

/* cpuacct's total is exact. Its user and system parts are counted in clock ticks, so they only give the ratio of the
 * split. */
static void v1_cpu_use(int dir, struct fh_cgroup_use *u)
{
	uint64_t total = v1_cpu_total(dir);
	double user = (double)fh_cgroup_number(dir, "cpuacct.usage_user"),
	       sys = (double)fh_cgroup_number(dir, "cpuacct.usage_sys");
	u->cpu_sys_us = user + sys > 0 ? (uint64_t)((double)total * (sys / (user + sys))) : 0;
	u->cpu_user_us = total - FH_MIN(u->cpu_sys_us, total);
}

static void v1_memory_use(int dir, struct fh_cgroup_use *u)
{
	u->memory_peak_bytes = fh_cgroup_number(dir, "memory.max_usage_in_bytes");
	u->oom_kills = fh_cgroup_keyed_number(dir, "memory.oom_control", "oom_kill");
}

static int v1_reclaim(int dir, uint64_t bytes)
{
	(void)bytes;
	return fh_cgroup_put(dir, "memory.force_empty", "0");
}

/* The third column of /proc/cgroups counts dead groups and living ones. */
static uint64_t v1_dead(const struct fh_cgroup_host *h)
{
	(void)h;
	char text[2048];
	unsigned long long groups;
	const char *row = fh_cgroup_text(AT_FDCWD, "/proc/cgroups", text, sizeof(text)) ? strstr(text, "\nmemory\t") : NULL;
	return row && sscanf(row, " memory %*u %llu", &groups) == 1 ? groups : UINT64_MAX;
}

static const struct fh_cgroup_dialect dialects[] = {
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

const struct fh_cgroup_dialect *fh_cgroup_dialect(const struct fh_cgroup *g, enum fh_controller c)
{
	return &dialects[g->host->version[c]];
}
