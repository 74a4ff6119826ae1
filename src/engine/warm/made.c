/* SPDX-License-Identifier: MIT */
#include "engine/warm/made.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/core/children.h"
#include "engine/core/isolation.h"
#include "engine/core/making.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/talk.h"
#include "engine/host/packet.h"
#include "engine/warm/zygote.h"

void fh_made_failed(struct fh_sandbox *b, const struct fh_error *err)
{
	if (b->owner->on_origin_failed)
		b->owner->on_origin_failed(b, err);
	else
		fh_sandbox_fail(b, err);
}

/* Reads the last message of the set-up: descriptors for the engine to keep, or the error. */
static void on_launch_packet(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	struct fh_init_launched m;
	struct fh_error err = FH_ERROR_INIT;
	int fds[FH_PACKET_FDS_MAX], count;
	(void)events;
	ssize_t n = fh_packet_receive(b->child.socket, &m, sizeof(m), fds, &count);
	if (n == -EAGAIN)
		return;
	fh_watch_stop(b->engine->loop, &b->socket_watch);
	if (n == (ssize_t)sizeof(m) && m.h.op == FH_INIT_LAUNCHED && !m.error && count == (m.rules != 0) + (m.disk != 0)) {
		int next = 0;
		if (m.rules)
			b->rules = fds[next++];
		if (m.disk)
			b->disk = fds[next++];
		b->report.layers_off = m.layers_off;
		b->report.landlock = m.landlock;
		b->launched = true;
		fh_made_on_launched(b);
		return;
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	struct fh_setup_report r = { .step = m.step, .error = m.error };
	m.what[sizeof(m.what) - 1] = 0;
	memcpy(r.what, m.what, sizeof(r.what));
	if (n == (ssize_t)sizeof(m) && m.h.op == FH_INIT_LAUNCHED && m.error)
		(void)fh_launch_failed(&r, &err);
	else
		fh_error_set(&err, FH_E_SYSTEM, "the sandbox's set-up ended early");
	err.phase = FH_PHASE_CREATE;
	fh_made_failed(b, &err);
}

void fh_made_on_launched(struct fh_sandbox *b)
{
	if (b->child.socket >= 0 && !b->launched) {
		b->socket_watch.on_event = on_launch_packet;
		(void)fh_watch_set(b->engine->loop, &b->socket_watch, b->child.socket, EPOLLIN);
	}
	if (b->child.pidfd >= 0 && !b->pid_watch.events) {
		b->child.pid = fh_pid_of(b->child.pidfd);
		fh_sandbox_watch_life(b);
		if (b->state == FH_DYING)
			syscall(SYS_pidfd_send_signal, b->child.pidfd, SIGKILL, NULL, 0);
	}
	if (b->launched && b->child.pidfd >= 0 && b->state == FH_MAKING)
		fh_sandbox_on_made(b);
}

enum {
	PARKED_MEMORY_MIN = 16 << 20
}; /* bytes of memory that the making takes: init and the program forked from the zygote need a few MiB */

/* A sandbox made for the pool gets the limits of the last request, so that they usually need no change when it is
 * taken; but never so little memory that making it would fail or become slow. */
static void expect_limits(const struct fh_template *t, struct fh_cgroup_limits *limits)
{
	if (t->adopted_limits.memory_bytes >= PARKED_MEMORY_MIN)
		limits->memory_bytes = t->adopted_limits.memory_bytes;
	if (t->adopted_limits.tasks)
		limits->tasks = t->adopted_limits.tasks;
}

static const struct fh_origin made_of_template;

int fh_made_start(struct fh_template *t, const struct fh_owner *owner, struct fh_plan *plan, struct fh_connection *c,
                  uint64_t request, struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_engine *e = t->engine;
	struct fh_sandbox *b = fh_sandbox_new(e, owner, plan ? plan : t->plan, c, request);
	struct fh_cgroup_limits limits = fh_sandbox_group_limits(b->plan);
	b->plan_is_shared = !plan;
	if (!plan)
		expect_limits(t, &limits);
	b->template = t;
	b->origin = &made_of_template;
	b->token = ++e->next_token;
	int r = fh_sandbox_take_room(b, &limits, err);
	if (r == 0)
		r = fh_template_make(t, b, err);
	if (r)
		return fh_sandbox_give_up(b, r, err);
	b->has_program = t->has_zygote;
	b->start = t->has_zygote ? FH_START_ZYGOTE : FH_START_FRESH;
	b->parked = !plan;
	if (b->parked) {
		t->making++;
		e->parked_count++;
	}
	t->users++;
	fh_sandbox_watch_making(b);
	fh_sandbox_list(b);
	*ret = b;
	return 0;
}

bool fh_made_fits(const struct fh_sandbox *b, const struct fh_plan *plan)
{
	struct fh_cgroup_limits l = fh_sandbox_group_limits(plan);
	return fh_cgroup_fits(&b->cgroup, &l);
}

void fh_made_adopt(struct fh_sandbox *b, const struct fh_owner *owner, struct fh_plan *plan, struct fh_connection *c,
                   uint64_t request)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_cgroup_limits l = fh_sandbox_group_limits(plan);
	b->owner = owner;
	b->plan = plan;
	b->plan_is_shared = false;
	b->connection = c;
	b->request = request;
	b->born_ns = fh_now_ns();
	b->start = FH_START_PARKED;
	int r = fh_cgroup_limit(&b->cgroup, &l);
	b->template->adopted_limits = l;
	if (r < 0) {
		fh_error_sys(&err, -r, "cannot set the limits of a control group");
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	} else if ((b->sampling || b->sampling_kernel) && fh_sandbox_send_start(b, &err) < 0) {
		fh_sandbox_fail(b, &err);
	}
}

void fh_made_fall_back(struct fh_sandbox *b, const char *why)
{
	struct fh_template *t = FH_TAKE_PTR(b->template);
	b->origin = NULL;
	b->has_program = false;
	struct fh_error err = FH_ERROR_INIT;
	fh_watch_stop(b->engine->loop, &b->socket_watch);
	if (b->child.socket >= 0)
		close(FH_TAKE_FD(b->child.socket));
	b->asked = b->launched = false;
	b->start = FH_START_FRESH;
	b->socket_watch.on_event = fh_talk_on_socket;
	snprintf(b->start_why, sizeof(b->start_why), "%.159s", why);
	if (b->plan->start != FH_START_AUTO) {
		fh_error_set(&err, FH_E_UNAVAILABLE, "a %s start is not possible: %s", fh_start_name(b->plan->start), why);
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	} else if (fh_sandbox_launch_fresh(b, &err) < 0) {
		err.phase = FH_PHASE_CREATE;
		fh_sandbox_fail(b, &err);
	}
	fh_template_unuse(t);
}

void fh_made_on_program(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	if (b->state != FH_READY)
		return;
	if (fh_isolation_check(b, true, &err) < 0)
		fh_sandbox_fail(b, &err);
	else
		fh_sandbox_is_ready(b);
}

static void look_at_disk(struct fh_sandbox *b)
{
	struct statfs fs;
	if (b->disk >= 0 && fstatfs(b->disk, &fs) == 0)
		b->disk_full =
		    (fs.f_blocks && (uint64_t)fs.f_bfree * (uint64_t)fs.f_bsize < 4096) || (fs.f_files && !fs.f_ffree);
	if (b->disk >= 0)
		close(FH_TAKE_FD(b->disk)); /* The last descriptor of a mount that is closed takes the mount down; that work
		                               should fall to a dying process of the sandbox, not to the engine. */
}

void fh_made_on_program_end(struct fh_sandbox *b, const struct fh_init_exited *m)
{
	struct fh_process *p = b->processes;
	if (!p || !b->owner->one_program) { /* the sandbox is parked, or its run has not begun */
		if (b->state < FH_DYING && b->parked)
			fh_sandbox_destroy_now(b);
		else if (b->state < FH_DYING && !b->failed) {
			struct fh_error err = FH_ERROR_INIT;
			fh_error_set(&err, FH_E_SYSTEM, "the program that was forked for the run ended before it began");
			err.retryable = true;
			fh_sandbox_fail(b, &err);
		}
		return;
	}
	bool failed = b->failed;
	if (b->state == FH_READY)
		look_at_disk(b);
	fh_process_on_exited(p, m);
	if (failed || b->state != FH_READY)
		return;
	b->owner->on_program_end(b);
}

/* ----------------------------------------------------------------------------------- the origin of such sandboxes */

static void on_made(struct fh_sandbox *b)
{
	if (b->has_program)
		fh_zygote_fork(b);
	else
		fh_sandbox_is_ready(b);
}

static void on_ready(struct fh_sandbox *b)
{
	b->template->proven = true;
}

static void on_free(struct fh_sandbox *b)
{
	fh_template_unuse(b->template);
}

static const struct fh_origin made_of_template = {
	.on_made = on_made,
	.on_ready = on_ready,
	.on_reaped = fh_template_reaped,
	.on_free = on_free,
	.run_program = fh_zygote_run,
	.settle_program = fh_zygote_settle,
};
