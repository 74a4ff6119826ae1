/* SPDX-License-Identifier: MIT */
/* How a sandbox is made. */
#include "engine/core/making.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/isolation.h"
#include "engine/core/sandbox.h"
#include "engine/core/stuck.h"
#include "engine/core/talk.h"

static const char *first_writable(const struct fh_plan *p)
{
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].kind == FH_MOUNT_WRITABLE)
			return p->mounts[i].target;
	return "";
}

int fh_sandbox_send_start(struct fh_sandbox *b, struct fh_error *err)
{
	struct fh_init_start start = { .h = { .op = FH_INIT_START } };
	start.uid = b->plan->uid;
	start.gid = b->plan->gid;
	start.switch_ids = b->ids.ranges;
	start.keep_capabilities = !(b->plan->layers & 1u << FH_LAYER_CAPABILITIES);
	start.root_capabilities = fh_root_capabilities(b);
	start.rests = !b->has_program;
	start.only_kernel = !b->sampling;
	start.sockets_are_charged = b->engine->cgroups.version[FH_CG_MEMORY] == 2;
	start.sample_ms = b->parked ? 0 : b->sampling ? FH_SAMPLE_MS : b->sampling_kernel ? FH_KERNEL_MS : 0;
	start.shares = !b->engine->cgroups.version[FH_CG_CPU];
	start.rules = b->rules >= 0;
	snprintf(start.disk_path, sizeof(start.disk_path), "%.63s", first_writable(b->plan));
	if (start.sample_ms)
		fh_stuck_watch(b);
	return fh_sandbox_send(b, &start, sizeof(start), NULL, 0, err);
}

void fh_sandbox_is_ready(struct fh_sandbox *b)
{
	fh_timer_stop(b->engine->loop, &b->making_timer);
	if (b->origin)
		b->origin->on_ready(b);
	b->owner->on_ready(b);
}

void fh_sandbox_on_made(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	b->state = FH_READY;
	b->socket_watch.on_event = fh_talk_on_socket;
	(void)fh_watch_set(b->engine->loop, &b->socket_watch, b->child.socket, EPOLLIN);
	fh_isolation_read(b);
	if (fh_isolation_check(b, false, &err) < 0 || fh_sandbox_send_start(b, &err) < 0)
		fh_sandbox_fail(b, &err);
	else if (b->origin)
		b->origin->on_made(b);
	else
		fh_sandbox_is_ready(b);
}

static void on_report(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct fh_error err = FH_ERROR_INIT;
	(void)events;
	for (;;) {
		struct fh_setup_report r;
		ssize_t n = read(b->child.report, &r, sizeof(r));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* End of file: the exec succeeded if READY came before; otherwise the child died, which its pidfd reports. */
		if (n == 0) {
			fh_watch_stop(b->engine->loop, &b->report_watch);
			if (b->made && b->state == FH_MAKING)
				fh_sandbox_on_made(b);
			return;
		}
		r.what[sizeof(r.what) - 1] = 0;
		if (n != sizeof(r)) {
			fh_error_set(&err, FH_E_BUG, "an incomplete report from a sandbox's set-up");
		} else if (r.step == FH_SETUP_IDS && !r.error) {
			if (fh_launch_write_maps(&b->child, &b->ids, &err) == 0)
				continue;
		} else if (r.step == FH_SETUP_READY && !r.error) {
			b->made = true;
			b->report = r;
			continue;
		} else {
			(void)fh_launch_failed(&r, &err);
		}
		err.phase = FH_PHASE_CREATE;
		fh_watch_stop(b->engine->loop, &b->report_watch);
		fh_sandbox_fail(b, &err);
		return;
	}
}

static void on_making_late(struct fh_timer *t)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_TIMEOUT, "the sandbox was not ready after %d s", FH_MAKING_MS / 1000);
	err.phase = FH_PHASE_CREATE;
	err.retryable = true;
	fh_sandbox_fail(t->owner, &err);
}

struct fh_cgroup_limits fh_sandbox_group_limits(const struct fh_plan *plan)
{
	const uint64_t *limit = plan->limits.value;
	return (struct fh_cgroup_limits){
		.memory_bytes = limit[FH_LIMIT_MEMORY],
		.tasks = limit[FH_LIMIT_PROCESSES] == FH_UNLIMITED
		             ? FH_UNLIMITED
		             : limit[FH_LIMIT_PROCESSES] + 1, /* init counts as one more process */
		.milli_cpus = limit[FH_LIMIT_CPU_RATE],
	};
}

static int make_cgroup(struct fh_sandbox *b, const struct fh_cgroup_limits *limits, struct fh_error *err)
{
	char name[40] = "";
	fh_id_hex(b->id, name);
	bool any = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		any = any || b->engine->cgroups.version[c];
	b->sampling = !b->engine->cgroups.version[FH_CG_MEMORY] || !b->engine->cgroups.version[FH_CG_CPUACCT];
	b->sampling_kernel = b->engine->cgroups.version[FH_CG_MEMORY] != 0;
	return any ? fh_cgroup_create(&b->cgroup, &b->engine->cgroups, name, limits, err) : 0;
}

void fh_sandbox_watch_life(struct fh_sandbox *b)
{
	struct fh_loop *l = b->engine->loop;
	(void)fh_watch_set(l, &b->pid_watch, b->child.pidfd, EPOLLIN);
	if (b->cgroup.oom >= 0)
		(void)fh_watch_set(l, &b->oom_watch, b->cgroup.oom, b->cgroup.oom_is_eventfd ? EPOLLIN : EPOLLPRI);
}

void fh_sandbox_watch_making(struct fh_sandbox *b)
{
	fh_timer_prepare(b->engine->loop, &b->making_timer, on_making_late, b);
	fh_timer_set(b->engine->loop, &b->making_timer, fh_in_ms(FH_MAKING_MS));
}

struct fh_sandbox *fh_sandbox_new(struct fh_engine *e, const struct fh_owner *owner, struct fh_plan *plan,
                                  struct fh_connection *c, uint64_t request)
{
	struct fh_sandbox *b = FH_NEW(struct fh_sandbox);
	b->engine = e;
	b->owner = owner;
	b->plan = plan;
	b->connection = c;
	b->request = request;
	b->born_ns = fh_now_ns();
	b->start = FH_START_FRESH;
	b->cgroup = (struct fh_cgroup)FH_CGROUP_INIT;
	b->child = (struct fh_launched){ .pidfd = -1, .socket = -1, .report = -1, .go = -1 };
	b->disk = b->rules = b->program.pidfd = b->program.socket = -1;
	b->report_watch = (struct fh_watch){ .fd = -1, .on_event = on_report, .owner = b };
	b->socket_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_socket, .owner = b };
	b->pid_watch = (struct fh_watch){ .fd = -1, .on_event = fh_sandbox_on_pid, .owner = b };
	b->oom_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_oom, .owner = b };
	b->program.pid_watch.fd = b->program.socket_watch.fd = -1;
	for (size_t i = 0; i < FH_ARRAY_SIZE(b->links); i++)
		b->links[i] = -1;
	fh_id_random(&b->id);
	return b;
}

int fh_sandbox_take_room(struct fh_sandbox *b, const struct fh_cgroup_limits *limits, struct fh_error *err)
{
	int r = 0;
	if (b->engine->sandbox_count >= FH_SANDBOXES_MAX)
		r = fh_error_set(err, FH_E_LIMIT, "%d sandboxes are alive; no more are allowed at once", FH_SANDBOXES_MAX);
	if (r == 0)
		r = fh_id_pool_take(&b->engine->ids, &b->ids, err);
	return r == 0 ? make_cgroup(b, limits, err) : r;
}

int fh_sandbox_launch_fresh(struct fh_sandbox *b, struct fh_error *err)
{
	/* the plan that a client can ask for shows what is in force */
	b->plan->root_capabilities = fh_root_capabilities(b) != 0;
	int r = fh_launch(b->plan, FH_PART_WHOLE, b->cgroup.host ? &b->cgroup : NULL, &b->ids, &b->child, err);
	if (r < 0)
		return r;
	(void)fh_watch_set(b->engine->loop, &b->report_watch, b->child.report, EPOLLIN);
	fh_sandbox_watch_life(b);
	fh_sandbox_watch_making(b);
	return 0;
}

void fh_sandbox_list(struct fh_sandbox *b)
{
	b->next = b->engine->sandboxes;
	b->engine->sandboxes = b;
	b->engine->sandbox_count++;
}

int fh_sandbox_give_up(struct fh_sandbox *b, int r, struct fh_error *err)
{
	if (err && err->phase == FH_PHASE_NONE)
		err->phase = FH_PHASE_CREATE;
	(void)fh_cgroup_remove(&b->cgroup);
	fh_id_pool_give_back(&b->engine->ids, &b->ids);
	if (!b->plan_is_shared)
		fh_plan_free(b->plan);
	free(b);
	return r;
}

int fh_sandbox_make(struct fh_engine *e, const struct fh_owner *owner, struct fh_plan *plan, struct fh_connection *c,
                    uint64_t request, struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_sandbox *b = fh_sandbox_new(e, owner, plan, c, request);
	struct fh_cgroup_limits limits = fh_sandbox_group_limits(plan);
	int r = fh_sandbox_take_room(b, &limits, err);
	if (r == 0)
		r = fh_sandbox_launch_fresh(b, err);
	if (r)
		return fh_sandbox_give_up(b, r, err);
	fh_sandbox_list(b);
	*ret = b;
	return 0;
}
