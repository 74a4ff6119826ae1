/* SPDX-License-Identifier: MIT */
/* The states of a sandbox after it was made (making.c makes it). */
#include "engine/core/connection.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/core/children.h"
#include "engine/core/engine.h"
#include "engine/core/limits.h"
#include "engine/core/pause.h"
#include "engine/core/process/program_group.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "proto/wire.h"

struct fh_sandbox *fh_sandbox_find(struct fh_engine *e, struct fh_id id)
{
	for (struct fh_sandbox *b = e->sandboxes; b; b = b->next)
		if (fh_id_eq(b->id, id) && b->state < FH_DYING)
			return b;
	return NULL;
}

struct fh_process *fh_process_find(struct fh_engine *e, struct fh_id id)
{
	for (struct fh_sandbox *b = e->sandboxes; b; b = b->next)
		for (struct fh_process *p = b->processes; p; p = p->next)
			if (fh_id_eq(p->id, id))
				return p;
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ end of life */

static void answer_destroyed(struct fh_sandbox *b)
{
	struct fh_connection *c = b->destroy_connection;
	if (!c || c->closing || !b->destroy_request)
		return;
	fh_frame_write(fh_connection_out(c), FH_FRAME_REPLY, 0, b->destroy_request, b->id, (struct fh_str){ "", 0 });
	fh_connection_flush(c);
}

static void free_sandbox(struct fh_sandbox *b)
{
	struct fh_engine *e = b->engine;
	if (b->owner->on_free)
		b->owner->on_free(b);
	for (struct fh_sandbox **p = &e->sandboxes; *p; p = &(*p)->next)
		if (*p == b) {
			*p = b->next;
			e->sandbox_count--;
			break;
		}
	fh_process_free_all(b);
	for (size_t i = 0; i < b->left_count; i++)
		fh_cgroup_abandon(&b->left_groups[i]);
	free(b->left_groups);
	for (size_t i = 0; i < b->spare_count; i++)
		fh_cgroup_abandon(&b->spare_groups[i].group);
	free(b->hold);
	while (b->files) {
		struct fh_output *s = b->files;
		b->files = s->next;
		fh_output_free(e, s);
	}
	/* a sandbox whose template broke while it was being made may be swept before its deadline was set */
	struct fh_timer *timers[] = { &b->making_timer, &b->finish_timer, &b->sweep_timer,
		                          &b->lease_timer,  &b->oom_timer,    &b->stuck_timer };
	for (size_t i = 0; i < FH_ARRAY_SIZE(timers); i++)
		fh_timer_stop(e->loop, timers[i]);
	if (!b->plan_is_shared)
		fh_plan_free(b->plan);
	if (b->origin)
		b->origin->on_free(b);
	fh_loop_free(e->loop, b);
	e->handler->settle(e);
}

/* Everything of the sandbox is gone from the host: tells the owner. */
static void gone(struct fh_sandbox *b)
{
	fh_id_pool_give_back(&b->engine->ids, &b->ids);
	for (struct fh_process *p = b->processes, *next; p; p = next) {
		next = p->next;
		fh_process_gone(p);
	}
	b->owner->on_gone(b);
}

void fh_sandbox_release(struct fh_sandbox *b)
{
	answer_destroyed(b);
	free_sandbox(b);
}

static void on_sweep(struct fh_timer *t)
{
	struct fh_sandbox *b = t->owner;
	bool removed = fh_program_groups_remove(b);
	removed = fh_freezer_remove(&b->freezer) && removed;
	if (!removed || !fh_cgroup_remove(&b->cgroup)) {
		/* The kernel removes the last task from its group a moment after it was reaped. If it never does, the keeper or
		 * the next engine removes the group. */
		int64_t waited = fh_now_ns() - b->dying_ns;
		if (waited < 5 * FH_NS_PER_S) {
			fh_timer_set(b->engine->loop, &b->sweep_timer, fh_now_ns() + FH_MAX(waited / 4, FH_NS_PER_MS / 4));
			return;
		}
		fh_cgroup_abandon(&b->cgroup);
	}
	gone(b);
}

/* Closes what the origin provided: the program, its rule set, its writable layer. */
static void close_program(struct fh_sandbox *b)
{
	struct fh_loop *l = b->engine->loop;
	fh_watch_stop(l, &b->program.socket_watch);
	fh_watch_stop(l, &b->program.pid_watch);
	if (b->program.pidfd >= 0)
		fh_reap_later(l, FH_TAKE_FD(b->program.pidfd));
	int *fds[] = { &b->program.socket, &b->rules, &b->disk };
	for (size_t i = 0; i < FH_ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(FH_TAKE_FD(*fds[i]));
}

static void close_child(struct fh_sandbox *b)
{
	struct fh_loop *l = b->engine->loop;
	struct fh_watch *watches[] = { &b->report_watch, &b->socket_watch, &b->pid_watch, &b->oom_watch };
	for (size_t i = 0; i < FH_ARRAY_SIZE(watches); i++)
		fh_watch_stop(l, watches[i]);
	int *fds[] = { &b->child.pidfd, &b->child.socket, &b->child.report, &b->child.go };
	for (size_t i = 0; i < FH_ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	fh_timer_stop(l, &b->making_timer);
	fh_timer_stop(l, &b->finish_timer);
	fh_timer_stop(l, &b->lease_timer);
	fh_timer_stop(l, &b->oom_timer);
	fh_timer_stop(l, &b->answer_timer);
	fh_timer_stop(l, &b->stuck_timer);
	close_program(b);
}

static void tell_dying(struct fh_sandbox *b)
{
	if (b->owner->on_dying)
		b->owner->on_dying(b);
}

void fh_sandbox_gone_unmade(struct fh_sandbox *b)
{
	b->dying_ns = b->dying_ns ? b->dying_ns : fh_now_ns();
	b->reaped = true;
	b->state = FH_SWEEPING;
	tell_dying(b);
	close_child(b);
	fh_timer_prepare(b->engine->loop, &b->sweep_timer, on_sweep, b);
	fh_timer_set(b->engine->loop, &b->sweep_timer, fh_now_ns());
}

/* init is dead, and so is every process of its namespace, as the kernel guarantees for pid 1. */
static void on_reaped(struct fh_sandbox *b)
{
	fh_pause_end(b);
	b->reaped = true;
	b->state = FH_SWEEPING;
	tell_dying(b);
	if (b->origin)
		b->origin->on_reaped(b);
	for (struct fh_process *p = b->processes; p; p = p->next)
		fh_process_gone(p);
	fh_transfer_drop_all(b);
	close_child(b);
	fh_timer_prepare(b->engine->loop, &b->sweep_timer, on_sweep, b);
	on_sweep(&b->sweep_timer);
}

void fh_sandbox_on_pid(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	siginfo_t info;
	struct rusage use;
	(void)events;
	if (!fh_child_ended(b->child.pidfd, &info, &use))
		return;
	if (b->state < FH_DYING && !b->failed) {
		struct fh_error err = FH_ERROR_INIT;
		if (b->state == FH_READY) { /* The kernel killed pid 1; the only known cause is a lack of memory. */
			struct fh_usage u;
			fh_limits_use(b, &u);
			for (struct fh_process *p = b->processes; b->oom_seen && p; p = p->next)
				p->fired |= p->exited ? 0 : 1u << FH_LIMIT_MEMORY;
		}
		bool held_engine = fh_keeper_killed(&b->engine->keeper, b->child.pid);
		if (held_engine || !b->oom_seen) {
			if (held_engine)
				fh_error_set(&err, FH_E_TIMEOUT,
				             "a pipe or terminal that the engine uses was held locked from inside; "
				             "the sandbox was destroyed");
			else
				fh_error_set(&err, FH_E_SYSTEM, "the sandbox's init died (%s %d)",
				             info.si_code == CLD_EXITED ? "exit status" : "signal", info.si_status);
			err.phase = b->state == FH_MAKING ? FH_PHASE_CREATE : FH_PHASE_RUN;
			err.retryable = !held_engine;
			b->failed = true;
			b->error = err;
		}
	}
	b->dying_ns = b->dying_ns ? b->dying_ns : fh_now_ns();
	on_reaped(b);
}

void fh_sandbox_destroy_now(struct fh_sandbox *b)
{
	if (b->state >= FH_DYING)
		return;
	fh_pause_end(b);
	b->state = FH_DYING;
	b->dying_ns = fh_now_ns();
	tell_dying(b);
	if (b->child.pidfd < 0) {
		if (!b->asked) /* if the holder was asked, its answer ends the sandbox */
			fh_sandbox_gone_unmade(b);
		return;
	}
	if (syscall(SYS_pidfd_send_signal, b->child.pidfd, SIGKILL, NULL, 0) < 0 && !b->reaped)
		kill(b->child.pid,
		     /* a seccomp filter around the engine may not know the call; until init is reaped, its pid cannot be
		      * reused */
		     SIGKILL);
}

void fh_sandbox_fail(struct fh_sandbox *b, const struct fh_error *err)
{
	if (!b->failed) {
		b->failed = true;
		b->error = *err;
	}
	fh_sandbox_destroy_now(b);
}

static void on_finish_late(struct fh_timer *t)
{
	fh_sandbox_destroy_now(t->owner);
}

void fh_sandbox_await_finish(struct fh_sandbox *b)
{
	if (b->state != FH_READY || b->finish_timer.slot)
		return;
	fh_timer_prepare(b->engine->loop, &b->finish_timer, on_finish_late, b);
	fh_timer_set(b->engine->loop, &b->finish_timer, fh_in_ms(FH_FINISH_MS));
}

void fh_sandbox_kill_all(struct fh_sandbox *b)
{
	struct fh_init_header m = { .op = FH_INIT_FINISH };
	if (b->state != FH_READY || b->finish_timer.slot)
		return;
	fh_sandbox_await_finish(b);
	if (fh_sandbox_send(b, &m, sizeof(m), NULL, 0, NULL) < 0)
		fh_sandbox_destroy_now(b);
}

void fh_sandbox_drop_connection(struct fh_engine *e, struct fh_connection *c)
{
	for (struct fh_sandbox *b = e->sandboxes, *next; b; b = next) {
		next = b->next;
		fh_pause_drop_connection(b, c);
		for (struct fh_process *p = b->processes, *after; p; p = after) {
			after = p->next;
			bool was_its = p->connection == c;
			if (was_its)
				p->connection = NULL;
			for (struct fh_output *s = p->streams; s; s = s->next)
				if (s->connection == c)
					fh_output_detach(e, s);
			for (struct fh_waiter *w = p->waiters; w; w = w->next)
				if (w->connection == c)
					w->connection = NULL;
			if (was_its && p->helper && p->started)
				fh_process_abandon(p);
		}
		for (struct fh_transfer *t = b->transfers; t; t = t->next) {
			if (t->connection == c)
				t->connection = NULL;
		}
		for (struct fh_output *s = b->files; s; s = s->next)
			/* no other connection can take over a file's stream; closing the pipe tells the child that sends the file
			 */
			if (s->connection == c) {
				s->connection = NULL;
				fh_output_end(e, s);
			}
		if (b->destroy_connection == c)
			b->destroy_connection = NULL;
		if (b->connection != c)
			continue;
		b->connection = NULL;
		b->request = 0;
		if (!b->lease_timer.slot)
			fh_sandbox_destroy_now(b);
		if (b->owner->on_disconnect) /* called last, because it may free the sandbox */
			b->owner->on_disconnect(b, c);
	}
}

static void on_lease_over(struct fh_timer *t)
{
	fh_sandbox_destroy_now(t->owner);
}

void fh_sandbox_lease(struct fh_sandbox *b, uint64_t ms)
{
	b->lease_timer.on_time = on_lease_over;
	b->lease_timer.owner = b;
	if (ms)
		fh_timer_set(b->engine->loop, &b->lease_timer,
		             fh_in_ms((int64_t)FH_MIN(ms, (uint64_t)INT64_MAX / 4 / FH_NS_PER_MS)));
	else
		fh_timer_stop(b->engine->loop, &b->lease_timer);
}
