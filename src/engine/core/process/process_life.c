/* SPDX-License-Identifier: MIT */
#include "engine/core/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/core/connection.h"
#include "engine/core/engine.h"
#include "engine/core/isolation.h"
#include "engine/core/enforcement.h"
#include "engine/core/limits.h"
#include "engine/core/process/program_group.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "proto/wire.h"

void fh_process_started(struct fh_process *p, struct fh_connection *c, uint64_t request)
{
	if (!c || c->closing || !request)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_STARTED, 0, request, p->id);
	fh_wire_bytes(out, F_SANDBOX_ID, p->sandbox->id.b, 16);
	fh_wire_u64(out, F_PID, p->pid);
	if (!fh_id_is_zero(p->input.id) && !p->exited) {
		size_t s = fh_wire_begin(out, F_STREAM);
		fh_wire_u64(out, F_KIND, FH_KIND_STDIN);
		fh_wire_bytes(out, F_ID, p->input.id.b, 16);
		fh_wire_u64(out, F_WINDOW, FH_STDIN_WINDOW);
		fh_wire_u64(out, F_OFFSET, p->input.written);
		fh_wire_end(out, s);
	}
	for (struct fh_output *x = p->streams; x; x = x->next) {
		size_t s = fh_wire_begin(out, F_STREAM);
		fh_wire_u64(out, F_KIND, x->kind);
		fh_wire_bytes(out, F_ID, x->id.b, 16);
		fh_wire_u64(out, F_WINDOW, x->window);
		fh_wire_u64(out, F_OFFSET, x->acked);
		fh_wire_end(out, s);
	}
	fh_frame_end(out, mark);
	fh_connection_flush(c);
}

static const char *const step_texts[FH_STEP_COUNT_] = {
	[FH_STEP_NONE] = "start",
	[FH_STEP_FORK] = "fork for",
	[FH_STEP_TERMINAL] = "connect",
	[FH_STEP_RLIMIT] = "set the resource limits of",
	[FH_STEP_IDS] = "change the user for",
	[FH_STEP_FILES] = "write the files of",
	[FH_STEP_GROUP] = "enter the control group of",
	[FH_STEP_CWD] = "enter the working directory",
	[FH_STEP_EXEC] = "execute",
};

static void unlink_process(struct fh_process *p);

static void could_not_start(struct fh_process *p, const struct fh_init_spawned *m)
{
	struct fh_error err = FH_ERROR_INIT;
	uint32_t step = m->step < FH_STEP_COUNT_ ? m->step : FH_STEP_NONE;
	fh_error_sys(&err, m->error, "cannot %s %s", step_texts[step], step == FH_STEP_CWD ? p->cwd : p->command);
	err.phase = FH_PHASE_SPAWN;
	const struct fh_init_done refused = { .refused = m->refused, .error = m->error, .size = m->detail };
	if (step == FH_STEP_FILES) {
		fh_transfer_explain(p->sandbox->plan, &refused, &err);
	} else if (step == FH_STEP_EXEC && m->error == ENOENT) {
		err.code = FH_E_NOT_FOUND;
		fh_error_hint(
		    &err, "the program, or the loader that it names, is not in the sandbox: see --explain, --mount, --image");
	} else if (step == FH_STEP_FORK && m->error == EAGAIN) {
		fh_error_hint(&err, "the limit on processes leaves no room: raise --processes");
	}
	if (p->sandbox->owner->one_program) {
		fh_sandbox_fail(p->sandbox, &err);
		return;
	}
	fh_connection_error(p->connection, p->request, &err);
	unlink_process(p); /* no client was told the process's id, so none can wait for it */
}

/* The streams are read from the start, because output may be the first sign that the program runs. */
void fh_process_on_sent(struct fh_process *p)
{
	struct fh_engine *e = p->sandbox->engine;
	for (struct fh_output *x = p->streams; x; x = x->next)
		if (x->fd >= 0)
			fh_output_open(e, x, x->fd);
	fh_limits_start(p);
}

void fh_process_on_begun(struct fh_process *p)
{
	p->started = true;
	fh_process_started(p, p->connection, p->request);
}

void fh_process_on_spawned(struct fh_process *p, const struct fh_init_spawned *m, int terminal)
{
	struct fh_engine *e = p->sandbox->engine;
	if (m->error) {
		if (terminal >= 0)
			close(terminal);
		could_not_start(p, m);
		return;
	}
	p->started = true;
	p->pid = m->pid;
	if (!p->helper) /* init's report on a helper says nothing of a program: a helper has a user id of its own */
		fh_isolation_add_state(p->sandbox, &m->state);
	struct fh_error err = FH_ERROR_INIT;
	if (fh_isolation_check(p->sandbox, true, &err) < 0) {
		if (terminal >= 0)
			close(terminal);
		fh_sandbox_fail(p->sandbox, &err);
		return;
	}
	fh_process_started(p, p->connection, p->request);
	for (struct fh_output *x = p->streams; x; x = x->next)
		if (x->fd >= 0)
			fh_output_open(e, x, x->fd);
	if (p->pty && terminal >= 0) {
		int copy = fcntl(terminal, F_DUPFD_CLOEXEC, 3);
		fh_output_open(e, p->streams, terminal);
		if (copy >= 0)
			fh_input_open(e, &p->input, copy);
	} else if (terminal >= 0) { /* the process has pipes and no terminal */
		close(terminal);
	}
	fh_limits_start(p);
}

/* ------------------------------------------------------------------------------------------------------------- end */

static void answer(struct fh_process *p, struct fh_connection *c, uint64_t request)
{
	if (!c || c->closing)
		return;
	p->heard = true;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_EXIT, 0, request, p->id);
	fh_process_write_exit(p, out);
	fh_isolation_write(p->sandbox, out);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
}

void fh_process_drop_waiter(struct fh_waiter *w)
{
	struct fh_engine *e = w->process->sandbox->engine;
	fh_timer_stop(e->loop, &w->timer);
	for (struct fh_waiter **p = &w->process->waiters; *p; p = &(*p)->next)
		if (*p == w) {
			*p = w->next;
			break;
		}
	fh_loop_free(e->loop, w);
}

static void answer_waiters(struct fh_process *p)
{
	while (p->waiters) {
		struct fh_waiter *w = p->waiters;
		struct fh_connection *c = w->connection;
		uint64_t request = w->request;
		fh_process_drop_waiter(w);
		answer(p, c, request);
	}
}

static void unlink_process(struct fh_process *p)
{
	struct fh_engine *e = p->sandbox->engine;
	fh_limits_stop(p);
	fh_timer_stop(e->loop, &p->forget_timer);
	fh_program_group_drop(p);
	while (p->waiters)
		fh_process_drop_waiter(p->waiters);
	fh_input_close(e, &p->input);
	for (struct fh_output *s = p->streams, *next; s; s = next) {
		next = s->next;
		fh_output_free(e, s);
	}
	for (struct fh_process **x = &p->sandbox->processes; *x; x = &(*x)->next)
		if (*x == p) {
			*x = p->next;
			p->sandbox->process_count--;
			break;
		}
	fh_loop_free(e->loop, p);
}

void fh_process_end_tree(struct fh_process *p)
{
	struct fh_init_signal m = { .h = { FH_INIT_SIGNAL, p->token }, .signal = SIGKILL, .tree = 1 };
	int looks[FH_INIT_LOOKS] = { 0 };
	int count = p->has_group ? fh_cgroup_members(&p->group, looks, FH_INIT_LOOKS) : 0;
	(void)fh_sandbox_send(p->sandbox, &m, sizeof(m), looks, count, NULL);
	while (count > 0)
		close(looks[--count]);
}

/* ---- helpers ---- */

static void forget_helper(struct fh_process *p)
{
	for (const struct fh_output *s = p->streams; s; s = s->next)
		if (!s->ended || (s->connection && !s->end_sent))
			return;
	if (p->exited)
		unlink_process(p);
}

void fh_process_on_helper_stream_end(struct fh_output *s)
{
	/* the helper may have another stream that is still open, and whose end calls this again */
	s->on_end = fh_process_on_helper_stream_end;
	forget_helper(s->process);
}

void fh_process_abandon(struct fh_process *p)
{
	struct fh_engine *e = p->sandbox->engine;
	struct fh_init_signal m = { .h = { FH_INIT_SIGNAL, p->token }, .signal = SIGKILL };
	if (!p->exited)
		(void)fh_sandbox_send(p->sandbox, &m, sizeof(m), NULL, 0, NULL);
	fh_input_close(e, &p->input);
	for (struct fh_output *s = p->streams; s; s = s->next) {
		s->on_end = NULL;
		if (!s->ended)
			fh_output_end(e, s);
	}
	forget_helper(p);
}

static void on_forget(struct fh_timer *t)
{
	struct fh_process *p = t->owner;
	for (const struct fh_output *s = p->streams; s; s = s->next)
		if (s->connection && !s->end_sent) { /* a client is still reading, slowly: it gets every byte and the end */
			fh_timer_set(p->sandbox->engine->loop, t, fh_now_ns() + (int64_t)FH_EXIT_KEPT_MS * FH_NS_PER_MS);
			return;
		}
	unlink_process(p);
}

/* Whether a client knows how the process ended, and has got all that it wrote. */
static bool is_over(const struct fh_process *p)
{
	for (const struct fh_output *s = p->streams; s; s = s->next)
		if (!s->ended || !s->end_sent)
			return false;
	return p->exited && p->heard && !p->helper && !p->waiters;
}

void fh_process_forget_old(struct fh_sandbox *b)
{
	size_t over = 0;
	if (b->process_count <= FH_HEARD_MAX)
		return;
	for (struct fh_process *p = b->processes, *older; p; p = older) { /* the newest is the first */
		older = p->next;
		if (is_over(p) && ++over > FH_HEARD_LEFT)
			unlink_process(p);
	}
}

bool fh_process_is_counted(const struct fh_process *p)
{
	return p->has_group && !p->counts_whole;
}

/* Reads the usage of the process and what it started, if its control group counts these; otherwise, and in any case the
 * number of processes, that of the whole sandbox. *ret_kills: how many processes of its own group the kernel has killed
 * for lack of memory. */
static void use(const struct fh_process *p, struct fh_usage *ret, uint64_t *ret_kills)
{
	struct fh_cgroup_use u = { 0 };
	bool killed = WIFSIGNALED(p->wait_status) && WTERMSIG(p->wait_status) == SIGKILL;
	if (p->has_group)
		fh_cgroup_counts(&p->group, &u);
	*ret_kills = u.oom_kills;
	if (!fh_process_is_counted(p)) {
		fh_limits_use(p->sandbox, ret);
		return;
	}
	if (u.memory_peak_bytes && !killed) /* what the sandbox's memory has come to is not asked for */
		fh_limits_tasks(p->sandbox, ret);
	else
		fh_limits_counts(p->sandbox, ret);
	fh_cgroup_cpu_use(&p->group, &u);
	ret->cpu_user_us = u.cpu_user_us;
	ret->cpu_sys_us = u.cpu_sys_us;
	if (u.memory_peak_bytes)
		ret->memory_peak_bytes = u.memory_peak_bytes - FH_MIN(p->base.memory_peak_bytes, u.memory_peak_bytes);
}

/* Sets the usage of the process and what it started: that of its control group, where that counts it, without what
 * earlier programs used in it. Otherwise it is what the whole sandbox used since the process started, which includes
 * programs that ran at the same time. */
static void settle(struct fh_process *p, uint64_t *ret_kills)
{
	struct fh_usage now;
	use(p, &now, ret_kills);
	/* Only the sum is exact: for short times, the kernel's split into user and system time may shift between two
	 * readings. */
	uint64_t before = p->base.cpu_user_us + p->base.cpu_sys_us, total = now.cpu_user_us + now.cpu_sys_us;
	total -= FH_MIN(before, total);
	p->usage = now;
	p->usage.cpu_sys_us = FH_MIN(now.cpu_sys_us - FH_MIN(p->base.cpu_sys_us, now.cpu_sys_us), total);
	p->usage.cpu_user_us = total - p->usage.cpu_sys_us;
}

/* Whether the kernel killed the process, or one that it started, for lack of memory. The end of the process may be seen
 * before the kernel's notification. In a session, the kill may have hit another program: the process's own group
 * decides, or whether it was killed itself. */
static bool met_memory(const struct fh_process *p, uint64_t own_kills)
{
	if (p->sandbox->owner->one_program)
		return p->sandbox->oom_kills > p->oom_kills_before;
	bool killed = WIFSIGNALED(p->wait_status) && WTERMSIG(p->wait_status) == SIGKILL;
	return own_kills > 0 || (killed && p->sandbox->oom_kills > p->oom_kills_before);
}

void fh_process_on_exited(struct fh_process *p, const struct fh_init_exited *m)
{
	struct fh_engine *e = p->sandbox->engine;
	if (p->exited)
		return;
	p->exited = true;
	p->wait_status = m->status;
	/* a process that had ended before it was to be stopped keeps its own exit status */
	p->stopped = p->stopped && WIFSIGNALED(m->status) && WTERMSIG(m->status) == SIGKILL;
	/* A process may grow and end between two samples: the peak that the kernel kept for it is a lower bound of what was
	 * used. */
	p->sandbox->peak.memory_peak_bytes = FH_MAX(p->sandbox->peak.memory_peak_bytes, m->resident_peak_bytes);
	uint64_t own_kills;
	settle(p, &own_kills);
	if (met_memory(p, own_kills))
		p->fired |= 1u << FH_LIMIT_MEMORY;
	/* It may be another program of the session that was refused one: the limit is the session's. A program that
	 * succeeds in spite of that has met no limit. */
	if (m->status != 0 && !p->sandbox->owner->one_program && p->sandbox->tasks_refused > p->tasks_refused_before)
		p->fired |= 1u << FH_LIMIT_PROCESSES;
	if (m->status != 0 && fh_limits_met_data(p->sandbox, m->resident_peak_bytes))
		p->fired |= 1u << FH_LIMIT_MEMORY;
	p->usage.wall_us = (uint64_t)(fh_now_ns() - p->start_ns) / 1000;
	/* without a control group that counts all processes, this process alone is counted */
	uint64_t own = m->user_us + m->sys_us;
	if (p->usage.cpu_user_us + p->usage.cpu_sys_us < own && !p->sandbox->cgroup.host) {
		p->usage.cpu_user_us = m->user_us;
		p->usage.cpu_sys_us = m->sys_us;
	}
	/* The process may end between the last reading of its CPU time and the limit, or by the kernel's RLIMIT_CPU. */
	if (p->limits.cpu_ms < UINT64_MAX / 2000 && p->usage.cpu_user_us + p->usage.cpu_sys_us >= p->limits.cpu_ms * 1000)
		p->fired |= 1u << FH_LIMIT_CPU_TIME;
	/* The kernel sends SIGXFSZ when a file would exceed RLIMIT_FSIZE; a program that handles the signal gets EFBIG
	 * instead. */
	if (WIFSIGNALED(m->status) && WTERMSIG(m->status) == SIGXFSZ)
		p->fired |= 1u << FH_LIMIT_FILE_SIZE;
	fh_limits_stop(p);
	fh_input_gone(&p->input);
	fh_input_close(e, &p->input);
	if (p->sandbox->owner->one_program)
		return; /* the owner continues when all processes are dead */
	if (p->helper) {
		forget_helper(p);
		return;
	}
	fh_timer_prepare(e->loop, &p->forget_timer, on_forget, p);
	fh_timer_set(e->loop, &p->forget_timer, fh_now_ns() + (int64_t)FH_EXIT_KEPT_MS * FH_NS_PER_MS);
	/* What the process wrote goes out before its exit status, so that a client that has the status can take what it has
	 * received for all of the output, up to the stream's window. */
	for (struct fh_output *s = p->started ? p->streams : NULL; s; s = s->next)
		fh_output_catch_up(s);
	answer_waiters(p);
	fh_program_group_end(p, own_kills); /* only now, because nobody needs to wait for it */
}

void fh_process_gone(struct fh_process *p)
{
	struct fh_init_exited killed = { .status = SIGKILL };
	if (!p->exited && !p->started &&
	    !p->sandbox->owner->one_program) { /* the client's SPAWN request is not answered yet */
		struct fh_error err = FH_ERROR_INIT;
		fh_error_set(&err, FH_E_NOT_FOUND, "the sandbox was destroyed, or died, before the process started");
		err.phase = FH_PHASE_SPAWN;
		fh_connection_error(p->connection, p->request, p->sandbox->failed ? &p->sandbox->error : &err);
	}
	if (!p->exited)
		fh_process_on_exited(p, &killed);
	/* Nothing reads the pipes of a process that never started, so their end is not seen. */
	for (struct fh_output *s = p->streams; s; s = s->next)
		if (!s->ended && (s->fd < 0 || !p->started))
			fh_output_end(p->sandbox->engine, s);
}

void fh_process_free_all(struct fh_sandbox *b)
{
	while (b->processes)
		unlink_process(b->processes);
}

/* -------------------------------------------------------------------------------------------------------- answers */

/* Which limit names the status when several fired: output, memory, CPU, wall time; then those that only make calls
 * fail, and only if the program failed too. */
static const struct {
	enum fh_limit limit;
	enum fh_status status;
	bool only_failed;
} precedence[] = {
	{ FH_LIMIT_OUTPUT, FH_STATUS_OUTPUT_LIMIT, false },     { FH_LIMIT_MEMORY, FH_STATUS_MEMORY_LIMIT, false },
	{ FH_LIMIT_CPU_TIME, FH_STATUS_CPU_TIME_LIMIT, false }, { FH_LIMIT_WALL_TIME, FH_STATUS_WALL_TIME_LIMIT, false },
	{ FH_LIMIT_PROCESSES, FH_STATUS_PROCESS_LIMIT, true },  { FH_LIMIT_DISK, FH_STATUS_DISK_LIMIT, true },
	{ FH_LIMIT_FILE_SIZE, FH_STATUS_DISK_LIMIT, true },
};

static enum fh_status status_of(const struct fh_process *p)
{
	bool failed = p->wait_status != 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(precedence); i++)
		if (p->fired & 1u << precedence[i].limit && (failed || !precedence[i].only_failed))
			return precedence[i].status;
	return failed ? FH_STATUS_RUNTIME_ERROR : FH_STATUS_OK;
}

void fh_process_write_exit(const struct fh_process *p, struct fh_buf *out)
{
	bool signalled = WIFSIGNALED(p->wait_status);
	size_t mark = fh_wire_begin(out, F_EXIT);
	fh_wire_u64(out, F_STATUS, status_of(p));
	if (!signalled)
		fh_wire_u64(out, F_EXIT_CODE, (uint64_t)WEXITSTATUS(p->wait_status));
	fh_wire_u64(out, F_SIGNAL, signalled ? (uint64_t)WTERMSIG(p->wait_status) : 0);
	fh_wire_u64(out, F_FIRED, p->fired);
	fh_wire_u64(out, F_CPU_USER_US, p->usage.cpu_user_us);
	fh_wire_u64(out, F_CPU_SYS_US, p->usage.cpu_sys_us);
	fh_wire_u64(out, F_WALL_US, p->usage.wall_us);
	fh_wire_u64(out, F_MEMORY, p->usage.memory_peak_bytes);
	fh_wire_u64(out, F_PROCESSES, p->usage.processes_peak);
	if (p->sandbox->has_program && !p->sandbox->program.replaced)
		fh_wire_u64(out, F_MEMORY_BASELINE, p->sandbox->program_baseline);
	if (p->stopped)
		fh_wire_u64(out, F_STOPPED, 1);
	fh_wire_end(out, mark);
}

static void on_wait_timeout(struct fh_timer *t)
{
	struct fh_waiter *w = t->owner;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_connection *c = w->connection;
	uint64_t request = w->request;
	fh_error_set(&err, FH_E_TIMEOUT, "the process still runs");
	fh_process_drop_waiter(w);
	fh_connection_error(c, request, &err);
}

void fh_process_add_waiter(struct fh_process *p, struct fh_connection *c, uint64_t request, uint64_t timeout_ms)
{
	if (p->exited) {
		answer(p, c, request);
		return;
	}
	size_t waiting = 0;
	for (const struct fh_waiter *x = p->waiters; x; x = x->next)
		waiting++;
	if (waiting >= FH_WAITERS_MAX) {
		struct fh_error err = FH_ERROR_INIT;
		fh_error_set(&err, FH_E_LIMIT, "%d requests wait for this process already", FH_WAITERS_MAX);
		fh_connection_error(c, request, &err);
		return;
	}
	struct fh_waiter *w = FH_NEW(struct fh_waiter);
	*w = (struct fh_waiter){ .next = p->waiters, .process = p, .connection = c, .request = request };
	fh_timer_prepare(p->sandbox->engine->loop, &w->timer, on_wait_timeout, w);
	p->waiters = w;
	if (timeout_ms != FH_UNLIMITED)
		fh_timer_set(p->sandbox->engine->loop, &w->timer,
		             fh_now_ns() + (int64_t)FH_MIN(timeout_ms, (uint64_t)INT64_MAX / 2 / FH_NS_PER_MS) * FH_NS_PER_MS);
}
