/* SPDX-License-Identifier: MIT */
/*
 * Limits of time and output, and the usage of a sandbox (docs/limits.md).
 *
 * No event reports that CPU time was used up, so the engine reads the usage at the earliest time at which the limit
 * could be reached, which is after (limit - used) / processors, and computes the next time from there. That takes a
 * handful of readings, the last ones CPU_LOOK_NS apart.
 */
#include "engine/core/limits.h"

#include <signal.h>

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/thrash.h"

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
	struct fh_usage cpu;
	fh_limits_cpu(b, &cpu);
	fh_limits_counts(b, ret);
	ret->cpu_user_us = cpu.cpu_user_us;
	ret->cpu_sys_us = cpu.cpu_sys_us;
}

static void take_tasks(struct fh_sandbox *b, const struct fh_cgroup_use *u, struct fh_usage *ret)
{
	ret->processes_peak = u->tasks_peak ? u->tasks_peak - 1 : b->peak.processes_peak;
	b->tasks_refused = FH_MAX(b->tasks_refused, u->fork_failures);
}

void fh_limits_counts(struct fh_sandbox *b, struct fh_usage *ret)
{
	struct fh_cgroup_use u = { 0 };
	fh_cgroup_counts(&b->cgroup, &u);
	*ret = (struct fh_usage){
		.memory_peak_bytes =
		    u.memory_peak_bytes ? FH_MAX(u.memory_peak_bytes, b->kernel_peak) : b->peak.memory_peak_bytes,
	};
	take_tasks(b, &u, ret);
	b->oom_kills = FH_MAX(b->oom_kills, u.oom_kills);
	if (u.oom_kills)
		b->oom_seen = true;
}

void fh_limits_tasks(struct fh_sandbox *b, struct fh_usage *ret)
{
	struct fh_cgroup_use u = { 0 };
	fh_cgroup_task_counts(&b->cgroup, &u);
	*ret = (struct fh_usage){ 0 };
	take_tasks(b, &u, ret);
}

static uint64_t cpu_used_us(const struct fh_process *p)
{
	struct fh_sandbox *b = p->sandbox;
	uint64_t base = p->base.cpu_user_us + p->base.cpu_sys_us, now;
	if (fh_process_is_counted(p))
		now = fh_cgroup_cpu_us(&p->group);
	else if (b->engine->cgroups.version[FH_CG_CPUACCT])
		now = fh_cgroup_cpu_us(&b->cgroup);
	else
		now = b->sample.user_us + b->sample.sys_us;
	return now - FH_MIN(base, now);
}

/* Whether memory is what the program lacked. Its own group tells how often it read pages again; a run has the sandbox's
 * to itself. A program of a session that has no group of its own is not asked about. */
static bool lacks_memory(const struct fh_process *p)
{
	const struct fh_sandbox *b = p->sandbox;
	const struct fh_cgroup *own = p->has_group ? &p->group : &b->cgroup;
	const struct fh_cgroup *limited[] = { own, &b->cgroup }; /* either may have a limit of memory */
	struct fh_thrash_figures f = { 0 };
	struct fh_cgroup_use use = { 0 };
	if (!p->has_group && !p->one_shot)
		return false;
	fh_cgroup_cpu_use(own, &use);
	f.cpu_user_us = use.cpu_user_us;
	f.cpu_sys_us = use.cpu_sys_us;
	fh_cgroup_refaults(own, &f.since);
	for (size_t i = 0; i < FH_ARRAY_SIZE(limited); i++) {
		fh_cgroup_now(limited[i], &use);
		f.limit_bytes = limited[i]->limits.memory_bytes;
		f.used_bytes = use.memory_bytes;
		if (fh_thrash_is_lack_of_memory(&f))
			return true;
	}
	return false;
}

/* A limit of time is met. Both are told where memory was what the program lacked; its status is then that of memory. */
static void out_of_time(struct fh_process *p, enum fh_limit limit)
{
	if (lacks_memory(p))
		p->fired |= 1u << FH_LIMIT_MEMORY;
	fh_limits_fire(p, limit);
}

static void on_wall(struct fh_timer *t)
{
	out_of_time(t->owner, FH_LIMIT_WALL_TIME);
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
		out_of_time(p, FH_LIMIT_CPU_TIME);
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
