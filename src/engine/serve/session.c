/* SPDX-License-Identifier: MIT */
#include "engine/serve/session.h"

#include <stdio.h>
#include <unistd.h>

#include "engine/core/connection.h"
#include "engine/core/engine.h"
#include "engine/core/process/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/process/stream.h"
#include "engine/core/process/transfer.h"
#include "engine/serve/queue.h"
#include "engine/warm/choose.h"
#include "engine/warm/made.h"
#include "proto/wire.h"

static void reply_created(struct fh_sandbox *b)
{
	struct fh_connection *c = b->connection;
	if (!c || c->closing)
		return;
	struct fh_buf *out = fh_connection_out(c);
	size_t mark = fh_frame_begin(out, FH_FRAME_REPLY, 0, b->request, b->id);
	fh_wire_bytes(out, F_ID, b->id.b, 16);
	fh_wire_u64(out, F_START, b->start);
	if (b->start_why[0])
		fh_wire_text(out, F_START_WHY, b->start_why);
	fh_frame_end(out, mark);
	fh_connection_flush(c);
	b->request = 0;
}

static void create_files_done(struct fh_sandbox *b, struct fh_transfer *t, const struct fh_init_done *m)
{
	if (m && m->refused) {
		struct fh_error err = FH_ERROR_INIT;
		fh_transfer_explain(b->plan, m, &err);
		fh_sandbox_fail(b, &err);
	} else if (m) {
		reply_created(b);
	}
	free(t);
}

/* A run ends where its memory does; a session goes on, for which its init must live. */
static void set_init_apart(struct fh_sandbox *b)
{
	const struct fh_init_header m = { .op = FH_INIT_APART };
	int ways[2];
	if (!fh_cgroup_memory_ways(&b->cgroup, &ways[0], &ways[1]))
		return;
	(void)fh_sandbox_send(b, &m, sizeof(m), ways, 2, NULL);
	close(ways[0]);
}

static void put_files(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
	set_init_apart(b);
	if (!b->plan->file_count) {
		reply_created(b);
		return;
	}
	struct fh_transfer *t = FH_NEW(struct fh_transfer);
	t->done = create_files_done;
	if (fh_transfer_put(b, b->plan->files, b->plan->file_count, b->plan->cwd, NULL, t, &err) < 0) {
		free(t);
		fh_sandbox_fail(b, &err);
	}
}

static void on_gone(struct fh_sandbox *b)
{
	for (struct fh_process *p = b->processes; p; p = p->next)
		for (struct fh_output *x = p->streams; x; x = x->next)
			fh_output_finish(b->engine, x);
	if (b->request) { /* CREATE is not answered yet */
		if (!b->failed) {
			fh_error_set(&b->error, FH_E_NOT_FOUND, "the sandbox was destroyed, or died, while it was made");
			b->error.phase = FH_PHASE_CREATE;
		}
		fh_connection_error(b->connection, b->request, &b->error);
	}
	fh_sandbox_release(b);
}

static void on_ready(struct fh_sandbox *b)
{
	fh_queue_is_made(b);
	put_files(b);
}

static const struct fh_owner session_owner = { .on_ready = on_ready, .on_gone = on_gone, .on_free = fh_queue_is_made };

static void begin(struct fh_sandbox *b, const struct fh_deferred *d)
{
	snprintf(b->name, sizeof(b->name), "%s", d->name);
	fh_sandbox_lease(b, d->lease_ms);
	if (b->state == FH_READY && !b->failed) /* it was parked */
		put_files(b);
}

static void begin_parked(struct fh_sandbox *b, const struct fh_deferred *d)
{
	fh_made_adopt(b, &session_owner, d->plan, d->connection, d->request);
	begin(b, d);
}

int fh_session_make(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err)
{
	struct fh_chosen chosen;
	struct fh_sandbox *b;
	struct fh_plan *plan = asked->plan;
	/* The session's programs are started later, one by one, so no program is forked from a zygote together with the
	 * sandbox. Its files belong to it alone. */
	struct fh_plan made_of = *plan;
	made_of.zygote.main_file = 0;
	made_of.file_count = 0;
	int r = fh_template_choose(e, &made_of, asked->connection->peer_uid, true, &chosen, err);
	if (r) {
		fh_plan_free(plan);
		return r;
	}
	if (chosen.choice == FH_CHOICE_DEFER) {
		struct fh_deferred d = *asked;
		d.begin = begin_parked;
		fh_pool_wait(chosen.template, &d);
		return 0;
	}
	if (chosen.choice == FH_CHOICE_TEMPLATE && plan->start == FH_START_AUTO && fh_queue_is_needed(e)) {
		/* a holder makes one sandbox after the other */
		chosen = (struct fh_chosen){ .choice = FH_CHOICE_FRESH, .why = "many sandboxes are being made" };
	}
	r = fh_chosen_make(e, &chosen, &session_owner, plan, asked->connection, asked->request, &b, err);
	if (r)
		return r;
	if (chosen.choice != FH_CHOICE_PARKED)
		fh_queue_count(b);
	begin(b, asked);
	return 0;
}

bool fh_is_session(const struct fh_sandbox *b)
{
	return b->owner == &session_owner;
}
