/* SPDX-License-Identifier: MIT */
/*
 * One RUN: a sandbox is made, its files are written, and the plan's command is started. When the command ends, all
 * processes inside are killed, the requested files are sent out, and the sandbox is destroyed. The result is the last
 * frame of the request: it is sent when all processes but init are dead and the client has every byte of output. The
 * end of init, which runs nothing of the program's, and the kernel's clean-up are still to come; the client does not
 * wait for them unless too many sandboxes are ending already.
 */
#include "engine/serve/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "engine/core/connection.h"
#include "engine/core/isolation.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "engine/serve/group.h"
#include "engine/warm/choose.h"
#include "engine/warm/made.h"
#include "proto/wire.h"

struct out_file {
	struct fh_output *stream;
	char *refused;
	uint64_t size;
	bool settled;
};

struct fh_run {
	bool stdin_open, finished, over, gone; /* over: all processes but init are dead, and every file was sent */
	size_t window;
	struct fh_process *process;
	struct out_file *outs;
	size_t out_count, next_out;
};

static void free_run(struct fh_sandbox *b)
{
	struct fh_run *r = FH_TAKE_PTR(b->run);
	for (size_t i = 0; i < r->out_count; i++) {
		fh_output_free(b->engine, r->outs[i].stream);
		free(r->outs[i].refused);
	}
	free(r->outs);
	free(r);
}

static bool all_sent(const struct fh_run *r)
{
	for (const struct fh_output *s = r->process ? r->process->streams : NULL; s; s = s->next)
		if (!s->end_sent)
			return false;
	for (size_t i = 0; i < r->out_count; i++)
		if (r->outs[i].stream && !r->outs[i].stream->end_sent)
			return false;
	return true;
}

static void write_outs(const struct fh_sandbox *b, struct fh_buf *out)
{
	for (size_t i = 0; b->plan->outs[i]; i++) {
		const struct out_file *f = i < b->run->out_count ? &b->run->outs[i] : NULL;
		size_t mark = fh_wire_begin(out, F_OUT);
		fh_wire_text(out, F_NAME, b->plan->outs[i]);
		if (f && f->settled && !f->refused) {
			fh_wire_u64(out, F_SIZE, f->size);
			fh_wire_bytes(out, F_STREAM, f->stream->id.b, 16);
		} else {
			fh_wire_text(out, F_REFUSED, f && f->refused ? f->refused : "the sandbox died before it could be read");
		}
		fh_wire_end(out, mark);
	}
}

static void write_result(struct fh_sandbox *b)
{
	struct fh_connection *c = b->connection;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_RESULT, 0, b->request, b->id);
	fh_process_write_exit(b->run->process, out);
	write_outs(b, out);
	fh_isolation_write(b, out);
	fh_wire_u64(out, F_START, b->start);
	if (b->start_why[0])
		fh_wire_text(out, F_START_WHY, b->start_why);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
}

static void answer(struct fh_sandbox *b, bool ok)
{
	if (b->cancelled) {
		fh_error_set(&b->error, FH_E_CANCELLED, "the run was cancelled");
		b->error.phase = FH_PHASE_RUN;
	} else if (!ok && !b->failed) {
		fh_error_set(&b->error, FH_E_SYSTEM, "the sandbox ended before its program did");
		b->error.phase = FH_PHASE_RUN;
		b->error.retryable = true;
	}
	if (ok)
		write_result(b);
	else
		fh_connection_error(b->connection, b->request, &b->error);
}

static void on_ended(struct fh_sandbox *b)
{
	fh_sandbox_release(b);
}

static void on_ended_free(struct fh_sandbox *b)
{
	b->engine->ending_count--;
	fh_queue_is_made(b);
	fh_group_leave(b);
}

static void ignore(struct fh_sandbox *b)
{
	(void)b;
}

/* The owner of a sandbox whose run was answered before the sandbox was gone. */
static const struct fh_owner ending_owner = { .on_ready = ignore, .on_gone = on_ended, .on_free = on_ended_free };

/* Detaches the answered run from its sandbox, which ends by itself. */
static void leave_ending(struct fh_sandbox *b)
{
	fh_process_free_all(b);
	b->connection = NULL;
	b->request = 0;
	b->owner = &ending_owner;
	b->engine->ending_count++;
}

/* Answers the run when it is over, and releases its sandbox. */
static void settle(struct fh_sandbox *b)
{
	struct fh_run *r = b->run;
	struct fh_connection *c = b->connection;
	bool ok = r->process && r->process->exited && !b->failed && !b->cancelled;
	bool over = r->over && ok && b->engine->ending_count < FH_ENDING_MAX;
	if (!r->gone && !over)
		return;
	if (c && !c->closing) {
		if (ok && !all_sent(r))
			return; /* called again when a stream ends */
		answer(b, ok);
	}
	bool gone = r->gone;
	free_run(b);
	if (gone)
		fh_sandbox_release(b);
	else
		leave_ending(b);
}

static void on_stream_end(struct fh_output *s)
{
	if (s->sandbox->run)
		settle(s->sandbox);
}

/* Adds the limits that are only known after the program's exit: disk, memory, processes. */
static void take_last_word(const struct fh_sandbox *b)
{
	struct fh_process *p = b->run->process;
	if (!p || !p->exited)
		return;
	if (b->oom_seen)
		p->fired |= 1u << FH_LIMIT_MEMORY;
	if (b->tasks_refused)
		p->fired |= 1u << FH_LIMIT_PROCESSES;
	if (b->disk_full)
		p->fired |= 1u << FH_LIMIT_DISK;
}

static void on_gone(struct fh_sandbox *b)
{
	struct fh_process *p = b->run->process;
	b->run->gone = true;
	take_last_word(b);
	if (b->group)
		fh_group_on_over(b, !p || !p->exited || b->failed || b->cancelled);
	settle(b);
}

static void on_disconnect(struct fh_sandbox *b, const struct fh_connection *c)
{
	for (size_t i = 0; i < b->run->out_count; i++)
		if (b->run->outs[i].stream && b->run->outs[i].stream->connection == c)
			b->run->outs[i].stream->connection = NULL;
	settle(b);
}

void fh_run_settle(struct fh_sandbox *b)
{
	settle(b);
}

struct fh_output *fh_run_output(struct fh_sandbox *b, struct fh_id id)
{
	for (size_t i = 0; b->run && i < b->run->out_count; i++)
		if (b->run->outs[i].stream && fh_id_eq(b->run->outs[i].stream->id, id))
			return b->run->outs[i].stream;
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ files out */

/* alone: init has no other process beside it. */
static void end_sandbox(struct fh_sandbox *b, bool alone)
{
	fh_sandbox_destroy_now(b);
	take_last_word(b);
	b->run->over = alone;
	settle(b);
}

static void next_out(struct fh_sandbox *b);

static void out_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	struct fh_run *r = b->run;
	struct out_file *f = &r->outs[r->next_out];
	char why[160];
	free(t);
	f->settled = m != NULL;
	if (!m || m->refused) {
		f->refused = m ? fh_xstrdup(fh_transfer_refused(m, why, sizeof(why))) : NULL;
		fh_output_free(b->engine, FH_TAKE_PTR(f->stream));
	} else {
		f->size = m->size;
	}
	r->next_out++;
	if (m)
		next_out(b);
}

static void next_out(struct fh_sandbox *b)
{
	struct fh_run *r = b->run;
	struct fh_error err = FH_ERROR_INIT;
	if (r->next_out == r->out_count) {
		end_sandbox(b, true);
		return;
	}
	struct out_file *f = &r->outs[r->next_out];
	struct fh_transfer *t = FH_NEW(struct fh_transfer);
	f->stream = fh_output_new(b->engine, FH_KIND_FILE, b->connection, r->window, b->plan->out_max_bytes);
	f->stream->sandbox = b;
	f->stream->on_end = on_stream_end;
	t->done = out_done;
	t->stream = f->stream;
	if (fh_transfer_get(b, b->plan->outs[r->next_out], b->plan->out_max_bytes, t, &err) < 0) {
		free(t);
		fh_sandbox_fail(b, &err);
		return;
	}
	fh_transfer_announce(f->stream, b->connection, b->request, r->next_out);
}

static void on_program_exit(struct fh_sandbox *b)
{
	if (b->run->process && b->run->process->exited && !b->run->finished)
		fh_sandbox_await_finish(b);
	if (b->group)
		fh_group_on_over(b, false);
}

static void on_finished(struct fh_sandbox *b)
{
	struct fh_run *r = b->run;
	if (r->finished || !r->process || !r->process->exited)
		return;
	r->finished = true;
	if (b->group)
		fh_group_on_over(b, false); /* if the program was killed, the others of its group do not know yet */
	next_out(b);
}

/* Whether a SIGKILL that the engine did not send, and no limit explains, ended the program. It may have killed itself;
 * or init, holder or anchor died, and the kernel killed everything below them, of which the program's end may be heard
 * first. */
static bool was_killed(const struct fh_process *p)
{
	return WIFSIGNALED(p->wait_status) && WTERMSIG(p->wait_status) == SIGKILL && !p->fired && !p->stopped;
}

/* Called instead of on_program_exit if the program was forked from a zygote: init does not know of its end. */
static void on_program_end(struct fh_sandbox *b)
{
	bool ask_init = was_killed(b->run->process); /* a dead init does not answer: its end fails the run */
	if (b->group && !ask_init)
		fh_group_on_over(b, false);
	/* there is nothing left for init to do, so the sandbox is killed as a whole */
	if (!b->plan->outs[0] && !b->sampling && !ask_init)
		/* a program that never had a second process leaves no process behind */
		end_sandbox(b, b->run->process->usage.processes_peak == 1);
	else if (b->init_finished)
		on_finished(b);
	else
		fh_sandbox_kill_all(b);
	if (ask_init && !b->run->finished && b->state >= FH_DYING) {
		struct fh_error err = FH_ERROR_INIT;
		fh_error_set(&err, FH_E_SYSTEM, "the sandbox's init died, and its program with it");
		err.phase = FH_PHASE_RUN;
		err.retryable = true;
		fh_sandbox_fail(b, &err);
	}
}

/* ---------------------------------------------------------------------------------------------------------- start */

void fh_run_spawn(struct fh_sandbox *b)
{
	struct fh_plan *p = b->plan;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_spawn s = {
		.uid = b->plan->uid,
		.gid = b->plan->gid,
		.memory_bytes = FH_UNLIMITED,
		.argv = p->argv,
		.env = p->env,
		.cwd = p->cwd,
		.stdin_open = b->run->stdin_open,
		.one_shot = true,
		.window = b->run->window,
		.limits = { p->limits.value[FH_LIMIT_WALL_TIME], p->limits.value[FH_LIMIT_CPU_TIME],
		            p->limits.value[FH_LIMIT_OUTPUT] },
	};
	if (!b->run->stdin_open)
		s.stdin_data = (struct fh_str){ (const char *)p->stdin_data.data, p->stdin_data.size };
	if (fh_process_spawn_in(b, &s, b->connection, b->request, &b->run->process, &err) < 0) {
		err.phase = FH_PHASE_SPAWN;
		fh_sandbox_fail(b, &err);
		return;
	}
	for (struct fh_output *x = b->run->process->streams; x; x = x->next)
		x->on_end = on_stream_end;
	if (b->program.starting)
		fh_process_on_sent(b->run->process);
}

/* The plan's files are in the sandbox. */
static void ready(struct fh_sandbox *b)
{
	if (b->group)
		fh_group_on_ready(b);
	else
		fh_run_spawn(b);
}

static void files_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	struct fh_error err = FH_ERROR_INIT;
	free(t);
	if (!m)
		return;
	if (m->refused) {
		fh_transfer_explain(b->plan, m, &err);
		fh_sandbox_fail(b, &err);
		return;
	}
	ready(b);
}

/* A few small files are sent with the program's start, which saves a process and two messages. */
static bool files_are_small(const struct fh_plan *p)
{
	size_t bytes = 0;
	for (size_t i = 0; i < p->file_count; i++)
		bytes += sizeof(struct fh_init_entry) + strlen(p->files[i].name) + p->files[i].content.size;
	return p->file_count <= FH_ZYGOTE_FILES_MAX && bytes <= FH_ZYGOTE_FILES_BYTES_MAX;
}

static void put_files(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	b->files_come_along = files_are_small(b->plan);
	if (b->plan->file_count == 0 || b->files_come_along) {
		ready(b);
		return;
	}
	struct fh_transfer *t = FH_NEW(struct fh_transfer);
	t->done = files_done;
	if (fh_transfer_put(b, b->plan->files, b->plan->file_count, b->plan->cwd, NULL, t, &err) < 0) {
		free(t);
		err.phase = FH_PHASE_FILES;
		fh_sandbox_fail(b, &err);
	}
}

static void on_ready(struct fh_sandbox *b)
{
	fh_queue_is_made(b);
	put_files(b);
}

static void on_free(struct fh_sandbox *b)
{
	fh_queue_is_made(b);
	fh_group_leave(b);
}

static const struct fh_owner run_owner = {
	.one_program = true,
	.on_ready = on_ready,
	.on_gone = on_gone,
	.on_exit = on_program_exit,
	.on_finished = on_finished,
	.on_program_end = on_program_end,
	.on_disconnect = on_disconnect,
	.on_free = on_free,
};

static void begin(struct fh_sandbox *b, bool stdin_open, size_t window)
{
	b->run = FH_NEW(struct fh_run);
	b->run->stdin_open = stdin_open;
	b->run->window = window;
	while (b->plan->outs[b->run->out_count])
		b->run->out_count++;
	b->run->outs = fh_xcalloc(b->run->out_count + 1, sizeof(*b->run->outs));
}

void fh_run_begin(struct fh_sandbox *b)
{
	if (b->state == FH_READY && !b->failed)
		put_files(b);
}

static void begin_parked(struct fh_sandbox *b, const struct fh_deferred *d)
{
	fh_made_adopt(b, &run_owner, d->plan, d->connection, d->request);
	begin(b, d->stdin_open, d->window);
	fh_run_begin(b);
}

void fh_run_forget_deferred(struct fh_engine *e, struct fh_connection *c, uint64_t request)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_CANCELLED, "the run was cancelled");
	fh_queue_forget(e, c, request);
	for (struct fh_template *t = e->templates; t; t = t->next)
		for (struct fh_deferred **p = &t->deferred; *p;) {
			struct fh_deferred *d = *p;
			if (d->connection != c || (request && d->request != request)) {
				p = &d->next;
				continue;
			}
			*p = d->next;
			if (request)
				fh_connection_error(d->connection, request, &err);
			fh_plan_free(d->plan);
			free(d);
		}
}

static int start(struct fh_engine *e, const struct fh_deferred *asked, bool may_defer, bool may_wait,
                 struct fh_sandbox **ret, struct fh_error *err)
{
	struct fh_sandbox *b = NULL;
	struct fh_chosen chosen;
	struct fh_plan *plan = asked->plan;
	int r = fh_template_choose(e, plan, asked->connection->peer_uid, may_defer, &chosen, err);
	if (r) {
		fh_plan_free(plan);
		return r;
	}
	*ret = NULL;
	if (chosen.choice == FH_CHOICE_DEFER) {
		fh_pool_wait(chosen.template, asked);
		return 0;
	}
	if (chosen.choice != FH_CHOICE_PARKED && may_wait && fh_queue_is_needed(e))
		return fh_queue_add(e, asked, err);
	r = fh_chosen_make(e, &chosen, &run_owner, plan, asked->connection, asked->request, &b, err);
	if (r)
		return r;
	if (chosen.choice != FH_CHOICE_PARKED)
		fh_queue_count(b);
	begin(b, asked->stdin_open, asked->window);
	*ret = b;
	return 0;
}

int fh_run_start(struct fh_engine *e, struct fh_plan *plan, bool stdin_open, size_t window, bool may_defer,
                 struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err)
{
	const struct fh_deferred asked = { .plan = plan,
		                               .stdin_open = stdin_open,
		                               .window = window,
		                               .connection = c,
		                               .request = request,
		                               .begin = begin_parked };
	return start(e, &asked, may_defer, may_defer, ret, err);
}

int fh_run_start_now(struct fh_engine *e, const struct fh_deferred *asked, struct fh_sandbox **ret,
                     struct fh_error *err)
{
	return start(e, asked, true, false, ret, err);
}
