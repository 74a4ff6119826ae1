// SPDX-License-Identifier: MIT
/* The life of a sandbox. */
#include "engine/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proto/wire.h"

static int64_t in_ms(int64_t ms)
{
	return fh_now_ns() + ms * FH_NS_PER_MS;
}

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
	fh_group_leave(b);
	for (struct fh_sandbox **p = &e->sandboxes; *p; p = &(*p)->next)
		if (*p == b) {
			*p = b->next;
			e->sandbox_count--;
			break;
		}
	fh_process_free_all(b);
	while (b->files) {
		struct fh_output *s = b->files;
		b->files = s->next;
		fh_output_free(e, s);
	}
	fh_plan_free(b->plan);
	fh_loop_free(e->loop, b);
	if (!e->sandboxes && (!e->main || e->leaving))
		e->stop = 1;
}

/* Everything of it is gone from the host. What is left is to tell. */
static void gone(struct fh_sandbox *b)
{
	fh_id_pool_give_back(&b->engine->ids, &b->ids);
	for (struct fh_process *p = b->processes, *next; p; p = next) {
		next = p->next;
		fh_process_gone(p);
	}
	if (b->run) {
		fh_run_on_gone(b); /* may go on until all bytes are sent; it comes back by fh_sandbox_release */
		return;
	}
	for (struct fh_process *p = b->processes; p; p = p->next)
		for (struct fh_output *x = p->streams; x; x = x->next)
			fh_output_finish(b->engine, x);
	if (b->request) { /* of a CREATE */
		if (!b->failed) {
			fh_error_set(&b->error, FH_E_NOT_FOUND, "the sandbox was destroyed, or died, while it was made");
			b->error.phase = FH_PHASE_CREATE;
		}
		fh_connection_error(b->connection, b->request, &b->error);
	}
	answer_destroyed(b);
	free_sandbox(b);
}

void fh_sandbox_release(struct fh_sandbox *b)
{
	answer_destroyed(b);
	free_sandbox(b);
}

static void on_sweep(struct fh_timer *t)
{
	struct fh_sandbox *b = t->owner;
	if (!fh_cgroup_remove(&b->cgroup)) {
		/* The kernel counts the last task out a moment after it was reaped. Should it never: the keeper, or the next
		 * engine, removes what is left. */
		int64_t waited = fh_now_ns() - b->dying_ns;
		if (waited < 5 * FH_NS_PER_S) {
			fh_timer_set(b->engine->loop, &b->sweep_timer, fh_now_ns() + FH_MAX(waited / 4, FH_NS_PER_MS / 4));
			return;
		}
		fh_cgroup_abandon(&b->cgroup);
	}
	gone(b);
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
}

/* init is dead, and with it, as the kernel promises for pid 1, every process of its namespace. */
static void on_reaped(struct fh_sandbox *b)
{
	b->reaped = true;
	b->state = FH_SWEEPING;
	for (struct fh_process *p = b->processes; p; p = p->next)
		fh_process_gone(p);
	fh_transfer_drop_all(b);
	close_child(b);
	b->sweep_timer = (struct fh_timer){ .on_time = on_sweep, .owner = b };
	on_sweep(&b->sweep_timer);
}

static void on_pid(struct fh_watch *w, uint32_t events)
{
	struct fh_sandbox *b = w->owner;
	siginfo_t info = { 0 };
	(void)events;
	if (waitid(P_PIDFD, (id_t)b->child.pidfd, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
		return;
	if (b->state < FH_DYING && !b->failed) {
		struct fh_error err = FH_ERROR_INIT;
		if (b->state == FH_READY) { /* the kernel took pid 1: out of memory is the one known way */
			struct fh_usage u;
			fh_limits_use(b, &u);
			for (struct fh_process *p = b->processes; b->oom_seen && p; p = p->next)
				p->fired |= p->exited ? 0 : 1u << FH_LIMIT_MEMORY;
		}
		if (!b->oom_seen) {
			fh_error_set(&err, FH_E_SYSTEM, "the sandbox's init died (%s %d)",
			             info.si_code == CLD_EXITED ? "exit status" : "signal", info.si_status);
			err.phase = b->state == FH_MAKING ? FH_PHASE_CREATE : FH_PHASE_RUN;
			err.retryable = true;
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
	b->state = FH_DYING;
	b->dying_ns = fh_now_ns();
	if (syscall(SYS_pidfd_send_signal, b->child.pidfd, SIGKILL, NULL, 0) < 0 && !b->reaped)
		kill(b->child.pid,
		     SIGKILL); /* a filter around us may not know the call; until it is reaped the pid is its own */
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
	b->finish_timer = (struct fh_timer){ .on_time = on_finish_late, .owner = b };
	fh_timer_set(b->engine->loop, &b->finish_timer, in_ms(FH_FINISH_MS));
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
		for (struct fh_process *p = b->processes; p; p = p->next) {
			if (p->connection == c)
				p->connection = NULL;
			for (struct fh_output *s = p->streams; s; s = s->next)
				if (s->connection == c)
					s->connection = NULL;
			for (struct fh_waiter *w = p->waiters; w; w = w->next)
				if (w->connection == c)
					w->connection = NULL;
		}
		for (struct fh_transfer *t = b->transfers; t; t = t->next) {
			if (t->connection == c)
				t->connection = NULL;
		}
		for (struct fh_output *s = b->files; s; s = s->next)
			if (s->connection == c) { /* nobody can take over a file: its sender is told by the closed pipe */
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
		if (b->run) { /* last: it may free the sandbox */
			fh_run_disconnect(b, c);
			fh_run_settle(b);
		}
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
		             in_ms((int64_t)FH_MIN(ms, (uint64_t)INT64_MAX / 4 / FH_NS_PER_MS)));
	else
		fh_timer_stop(b->engine->loop, &b->lease_timer);
}

/* ------------------------------------------------------------------------------------------------------------ making
 */

static void reply_created(struct fh_sandbox *b)
{
	struct fh_connection *c = b->connection;
	if (!c || c->closing)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, b->request, b->id);
	fh_wire_bytes(out, F_ID, b->id.b, 16);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	b->request = 0;
}

static const char *first_writable(const struct fh_plan *p)
{
	for (size_t i = 0; i < p->mount_count; i++)
		if (p->mounts[i].kind == FH_MOUNT_WRITABLE)
			return p->mounts[i].target;
	return "";
}

static void create_files_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	if (m && m->refused) {
		struct fh_error err = FH_ERROR_INIT;
		char why[160];
		size_t i = (size_t)FH_MIN(m->size, b->plan->file_count ? b->plan->file_count - 1 : 0);
		fh_error_set(&err, FH_E_SYSTEM, "cannot put file %s into the sandbox: %s", b->plan->files[i].name,
		             m->error == ENOSPC ? "the limit on disk leaves no room"
		                                : fh_transfer_refused(m, why, sizeof(why)));
		err.phase = FH_PHASE_FILES;
		fh_sandbox_fail(b, &err);
	} else if (m) {
		reply_created(b);
	}
	free(t);
}

/* init runs and the kernel shows what it is made of. */
static void on_made(struct fh_sandbox *b)
{
	struct fh_init_start start = { .h = { .op = FH_INIT_START } };
	struct fh_error err = FH_ERROR_INIT;
	b->state = FH_READY;
	fh_timer_stop(b->engine->loop, &b->making_timer);
	(void)fh_watch_set(b->engine->loop, &b->socket_watch, b->child.socket, EPOLLIN);
	start.uid = b->plan->uid;
	start.gid = b->plan->gid;
	start.switch_ids = b->ids.ranges;
	start.keep_capabilities = !(b->plan->layers & 1u << FH_LAYER_CAPABILITIES);
	start.sample_ms = b->sampling ? FH_SAMPLE_MS : 0;
	snprintf(start.disk_path, sizeof(start.disk_path), "%.63s", first_writable(b->plan));
	fh_isolation_read(b);
	if (fh_isolation_check(b, false, &err) < 0 || fh_sandbox_send(b, &start, sizeof(start), NULL, 0, &err) < 0) {
		fh_sandbox_fail(b, &err);
		return;
	}
	if (b->run) {
		fh_run_on_ready(b);
	} else if (b->plan->file_count) {
		struct fh_transfer *t = FH_NEW(struct fh_transfer);
		t->done = create_files_done;
		if (fh_transfer_put(b, b->plan->files, b->plan->file_count, b->plan->cwd, NULL, t, &err) < 0) {
			free(t);
			fh_sandbox_fail(b, &err);
		}
	} else {
		reply_created(b);
	}
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
		if (n == 0) { /* exec happened, if READY came before; else the child died and its pidfd tells */
			fh_watch_stop(b->engine->loop, &b->report_watch);
			if (b->made && b->state == FH_MAKING)
				on_made(b);
			return;
		}
		r.what[sizeof(r.what) - 1] = 0;
		if (n != sizeof(r)) {
			fh_error_set(&err, FH_E_BUG, "a torn report from a sandbox's set-up");
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

static int make_cgroup(struct fh_sandbox *b, struct fh_error *err)
{
	const uint64_t *limit = b->plan->limits.value;
	struct fh_cgroup_limits l = {
		.memory_bytes = limit[FH_LIMIT_MEMORY],
		.tasks =
		    limit[FH_LIMIT_PROCESSES] == FH_UNLIMITED ? FH_UNLIMITED : limit[FH_LIMIT_PROCESSES] + 1, /* our init */
		.milli_cpus = limit[FH_LIMIT_CPU_RATE],
	};
	char name[40] = "";
	fh_id_hex(b->id, name);
	bool any = false;
	for (int c = 0; c < FH_CG_COUNT_; c++)
		any = any || b->engine->cgroups.version[c];
	b->sampling = !b->engine->cgroups.version[FH_CG_MEMORY] || !b->engine->cgroups.version[FH_CG_CPUACCT];
	return any ? fh_cgroup_create(&b->cgroup, &b->engine->cgroups, name, &l, err) : 0;
}

static void watch_child(struct fh_sandbox *b)
{
	struct fh_loop *l = b->engine->loop;
	(void)fh_watch_set(l, &b->report_watch, b->child.report, EPOLLIN);
	(void)fh_watch_set(l, &b->pid_watch, b->child.pidfd, EPOLLIN);
	if (b->cgroup.oom >= 0)
		(void)fh_watch_set(l, &b->oom_watch, b->cgroup.oom, b->cgroup.oom_is_eventfd ? EPOLLIN : EPOLLPRI);
	b->making_timer = (struct fh_timer){ .on_time = on_making_late, .owner = b };
	fh_timer_set(l, &b->making_timer, in_ms(FH_MAKING_MS));
}

int fh_sandbox_make(struct fh_engine *e, struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                    struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_sandbox *b = FH_NEW(struct fh_sandbox);
	b->engine = e;
	b->plan = plan;
	b->connection = c;
	b->request = request;
	b->born_ns = fh_now_ns();
	b->start = FH_START_FRESH;
	b->cgroup = (struct fh_cgroup)FH_CGROUP_INIT;
	b->child = (struct fh_child){ .pidfd = -1, .socket = -1, .report = -1, .go = -1 };
	b->report_watch = (struct fh_watch){ .fd = -1, .on_event = on_report, .owner = b };
	b->socket_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_socket, .owner = b };
	b->pid_watch = (struct fh_watch){ .fd = -1, .on_event = on_pid, .owner = b };
	b->oom_watch = (struct fh_watch){ .fd = -1, .on_event = fh_talk_on_oom, .owner = b };
	for (size_t i = 0; i < FH_ARRAY_SIZE(b->links); i++)
		b->links[i] = -1;
	fh_id_random(&b->id);
	int r = 0;
	if (e->sandbox_count >= FH_SANDBOXES_MAX)
		r = fh_error_set(err, FH_E_LIMIT, "%d sandboxes are alive; no more are allowed at once", FH_SANDBOXES_MAX);
	if (r == 0)
		r = fh_id_pool_take(&e->ids, &b->ids, err);
	if (r == 0)
		r = make_cgroup(b, err);
	if (r == 0)
		r = fh_launch(plan, b->cgroup.host ? &b->cgroup : NULL, &b->ids, b->sampling, &b->child, err);
	if (r) {
		if (err && err->phase == FH_PHASE_NONE)
			err->phase = FH_PHASE_CREATE;
		(void)fh_cgroup_remove(&b->cgroup);
		fh_id_pool_give_back(&e->ids, &b->ids);
		fh_plan_free(plan);
		free(b);
		return r;
	}
	b->next = e->sandboxes;
	e->sandboxes = b;
	e->sandbox_count++;
	watch_child(b);
	*ret = b;
	return 0;
}
