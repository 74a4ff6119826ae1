// SPDX-License-Identifier: MIT
/*
 * Limits of time and output, the usage of a sandbox, and how strictly each limit is enforced on this host
 * (docs/limits.md).
 *
 * No event reports that CPU time was used up, so the engine reads the usage at the earliest time at which the limit
 * could be reached, which is after (limit - used) / processors, and computes the next time from there. That takes a
 * handful of readings, the last ones CPU_LOOK_NS apart.
 */
#include "engine/core/limits.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "engine/core/engine.h"

enum { CPU_LOOK_NS = 1000000, CPU_LOOK_MAX_US = 1000000000 };

static void take_cpu(const struct fh_sandbox *b, const struct fh_cgroup_use *u, struct fh_usage *ret)
{
	bool counted = b->engine->cgroups.version[FH_CG_CPUACCT];
	ret->cpu_user_us = counted ? u->cpu_user_us : b->sample.user_us;
	ret->cpu_sys_us = counted ? u->cpu_sys_us : b->sample.sys_us;
}

void fh_limits_cpu(const struct fh_sandbox *b, struct fh_usage *ret)
{
	struct fh_cgroup_use u = { 0 };
	fh_cgroup_cpu_use(&b->cgroup, &u);
	*ret = (struct fh_usage){ 0 };
	take_cpu(b, &u, ret);
}

void fh_limits_use(struct fh_sandbox *b, struct fh_usage *ret)
{
	struct fh_cgroup_use u;
	fh_cgroup_use(&b->cgroup, &u);
	*ret = (struct fh_usage){
		.memory_peak_bytes =
		    u.memory_peak_bytes ? FH_MAX(u.memory_peak_bytes, b->sockets_peak) : b->peak.memory_peak_bytes,
		.processes_peak = u.tasks_peak ? u.tasks_peak - 1 : b->peak.processes_peak,
	};
	take_cpu(b, &u, ret);
	b->oom_kills = FH_MAX(b->oom_kills, u.oom_kills);
	if (u.oom_kills)
		b->oom_seen = true;
	if (u.fork_failures)
		b->sampled_tasks_full = true;
}

static uint64_t cpu_used_us(const struct fh_process *p)
{
	struct fh_sandbox *b = p->sandbox;
	if (p->has_group)
		return fh_cgroup_cpu_us(&p->group);
	uint64_t base = p->base.cpu_user_us + p->base.cpu_sys_us;
	uint64_t now =
	    b->engine->cgroups.version[FH_CG_CPUACCT] ? fh_cgroup_cpu_us(&b->cgroup) : b->sample.user_us + b->sample.sys_us;
	return now - FH_MIN(base, now);
}

static void on_wall(struct fh_timer *t)
{
	fh_limits_fire(t->owner, FH_LIMIT_WALL_TIME);
}

/* Reads the CPU time again when `left_us` could be used up at the earliest. */
static void look_later(struct fh_process *p, uint64_t left_us)
{
	struct fh_engine *e = p->sandbox->engine;
	uint64_t earliest = FH_MIN(left_us / e->cpus, (uint64_t)CPU_LOOK_MAX_US) * 1000;
	fh_timer_set(e->loop, &p->cpu_timer, fh_now_ns() + (int64_t)FH_MAX(earliest, (uint64_t)CPU_LOOK_NS));
}

static void on_cpu(struct fh_timer *t)
{
	struct fh_process *p = t->owner;
	uint64_t used = cpu_used_us(p), limit = p->limits.cpu_ms * 1000;
	if (used >= limit)
		fh_limits_fire(p, FH_LIMIT_CPU_TIME);
	else
		look_later(p, limit - used);
}

void fh_limits_start(struct fh_process *p)
{
	struct fh_engine *e = p->sandbox->engine;
	fh_timer_prepare(e->loop, &p->wall_timer, on_wall, p);
	fh_timer_prepare(e->loop, &p->cpu_timer, on_cpu, p);
	if (p->limits.wall_ms < (uint64_t)INT64_MAX / 2 / FH_NS_PER_MS)
		fh_timer_set(e->loop, &p->wall_timer, p->start_ns + (int64_t)p->limits.wall_ms * FH_NS_PER_MS);
	if (p->limits.cpu_ms < UINT64_MAX / 2000000)
		look_later(p, p->limits.cpu_ms * 1000);
}

void fh_limits_stop(struct fh_process *p)
{
	fh_timer_stop(p->sandbox->engine->loop, &p->wall_timer);
	fh_timer_stop(p->sandbox->engine->loop, &p->cpu_timer);
}

void fh_limits_hold(struct fh_process *p)
{
	int64_t now = fh_now_ns();
	p->held_ns = -1;
	if (p->exited)
		return;
	if (p->wall_timer.slot)
		p->held_ns = FH_MAX(p->wall_timer.deadline_ns - now, 0);
	p->held_since_ns = now;
	fh_limits_stop(p);
}

void fh_limits_go_on(struct fh_process *p)
{
	struct fh_engine *e = p->sandbox->engine;
	int64_t now = fh_now_ns();
	if (p->exited || !p->held_since_ns)
		return;
	p->start_ns += now - p->held_since_ns; /* the wall time that is reported excludes the pause */
	p->held_since_ns = 0;
	if (p->held_ns >= 0)
		fh_timer_set(e->loop, &p->wall_timer, now + p->held_ns);
	if (p->started && p->limits.cpu_ms < UINT64_MAX / 2000000)
		look_later(p, p->limits.cpu_ms * 1000);
}

static void on_not_killed(struct fh_timer *t)
{
	struct fh_process *p = t->owner;
	fh_sandbox_destroy_now(p->sandbox);
}

void fh_limits_fire(struct fh_process *p, enum fh_limit limit)
{
	p->fired |= 1u << limit;
	if (p->exited)
		return;
	fh_limits_stop(p);
	/* A run ends as a whole. In a session, the process is killed with everything that it started, and other programs go
	 * on. */
	if (p->sandbox->owner->one_program) {
		fh_sandbox_kill_all(p->sandbox);
		return;
	}
	fh_process_end_tree(p);
	/* Another program may keep init from killing (by stopping the child that does it): then the whole sandbox is
	 * destroyed. */
	fh_timer_prepare(p->sandbox->engine->loop, &p->wall_timer, on_not_killed, p);
	fh_timer_set(p->sandbox->engine->loop, &p->wall_timer, fh_now_ns() + (int64_t)FH_KILL_MS * FH_NS_PER_MS);
}

/* ---------------------------------------------------------------------------------------------------- enforcement */

enum fh_enforced fh_limits_enforced(const struct fh_sandbox *b, enum fh_limit limit)
{
	const struct fh_cgroup_host *h = &b->engine->cgroups;
	switch (limit) {
	case FH_LIMIT_CPU_TIME:
		return h->version[FH_CG_CPUACCT] ? FH_ENFORCED_EXACT : FH_ENFORCED_BOUNDED;
	case FH_LIMIT_MEMORY:
		return h->version[FH_CG_MEMORY] ? FH_ENFORCED_EXACT : FH_ENFORCED_BOUNDED;
	case FH_LIMIT_CPU_RATE:
		return h->version[FH_CG_CPU] ? FH_ENFORCED_EXACT : FH_ENFORCED_NONE;
	/* timers, pipes, rlimits and tmpfs sizes work alike on all hosts; tasks: by the pids controller or the namespace's
	 * rlimit */
	default:
		return FH_ENFORCED_EXACT;
	}
}

/* An rlimit that fits below the engine's own hard limit: lowering one needs no privilege, raising one would. */
static struct fh_init_rlimit capped(int resource, uint64_t value)
{
	struct rlimit now;
	if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
		value = now.rlim_max;
	return (struct fh_init_rlimit){ .resource = (uint32_t)resource, .value = value };
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Without a memory controller, init samples the memory of all processes every FH_SAMPLE_MS, and the sandbox is ended
 * when they exceed the limit. This rlimit stops a single process in case init is kept from sampling. It is far above
 * the limit, so that large allocations that are never touched mostly succeed, as they do under control groups. Never
 * RLIMIT_AS: Node and Java reserve far more address space than they use. */
static uint64_t data_rlimit(const struct fh_sandbox *b)
{
	uint64_t limit = b->plan->limits.value[FH_LIMIT_MEMORY];
	return b->engine->cgroups.version[FH_CG_MEMORY] || limit == FH_UNLIMITED ? UINT64_MAX
	                                                                         : plus(limit, limit / 4 + (2ULL << 30));
}

bool fh_limits_met_data(const struct fh_sandbox *b, uint64_t resident_peak_bytes)
{
	/* The kernel's peak of resident memory includes pages of mapped files. The mapped pages that samples saw are
	 * subtracted; the margin below the limit allows for those that no sample saw. */
	uint64_t limit = b->plan->limits.value[FH_LIMIT_MEMORY];
	return data_rlimit(b) != UINT64_MAX &&
	       resident_peak_bytes - FH_MIN(resident_peak_bytes, b->mapped_peak) > plus(limit, limit / 8 + (56 << 20));
}

size_t fh_limits_rlimits(const struct fh_sandbox *b, struct fh_init_rlimit *ret)
{
	const uint64_t *limit = b->plan->limits.value;
	const struct fh_cgroup_host *h = &b->engine->cgroups;
	size_t n = 0;
	ret[n++] = capped(RLIMIT_MEMLOCK, 0);
	ret[n++] = capped(RLIMIT_MSGQUEUE, 0);
	ret[n++] = capped(RLIMIT_SIGPENDING, 4096);
	ret[n++] = capped(RLIMIT_NOFILE, limit[FH_LIMIT_OPEN_FILES]);
	ret[n++] = capped(RLIMIT_FSIZE, limit[FH_LIMIT_FILE_SIZE]);
	/* The kernel counts processes by user and user namespace (ucounts, Linux 5.14), so the limit is exact: the sandbox
	 * has both to itself. One is added where init runs as the same user. */
	if (!h->version[FH_CG_PIDS] && limit[FH_LIMIT_PROCESSES] != FH_UNLIMITED)
		ret[n++] = capped(RLIMIT_NPROC, limit[FH_LIMIT_PROCESSES] + (!b->ids.ranges || b->plan->uid == 0));
	if (data_rlimit(b) != UINT64_MAX)
		ret[n++] = capped(RLIMIT_DATA, data_rlimit(b));
	if (!h->version[FH_CG_CPUACCT] && limit[FH_LIMIT_CPU_TIME] != FH_UNLIMITED)
		ret[n++] = capped(RLIMIT_CPU, limit[FH_LIMIT_CPU_TIME] / 1000 + 2);
	return n;
}
