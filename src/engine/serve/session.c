// SPDX-License-Identifier: MIT
#include "engine/serve/session.h"

#include "engine/core/connection.h"
#include "engine/core/engine.h"
#include "engine/core/process.h"
#include "engine/core/sandbox.h"
#include "engine/core/stream.h"
#include "engine/core/transfer.h"
#include "proto/wire.h"

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

static void on_ready(struct fh_sandbox *b)
{
	struct fh_error err = FH_ERROR_INIT;
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

static const struct fh_owner session_owner = { .on_ready = on_ready, .on_gone = on_gone };

int fh_session_make(struct fh_engine *e, struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                    struct fh_sandbox **ret, struct fh_error *err)
{
	return fh_sandbox_make(e, &session_owner, plan, c, request, ret, err);
}

bool fh_is_session(const struct fh_sandbox *b)
{
	return b->owner == &session_owner;
}
