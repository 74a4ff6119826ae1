/* SPDX-License-Identifier: MIT */
/* The queue of runs that wait for their turn, because one more sandbox made at the same time would delay all of
 * them. */
#include "engine/serve/queue.h"

#include "base/clock.h"
#include "engine/core/connection.h"
#include "engine/core/sandbox.h"
#include "engine/serve/run.h"

bool fh_queue_is_needed(const struct fh_engine *e)
{
	return e->waiting || e->making_count >= FH_RUNS_MAKING_MAX;
}

int fh_queue_add(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err)
{
	if (e->waiting_count >= FH_RUNS_WAITING_MAX) {
		fh_plan_free(asked->plan);
		int r = fh_error_set(err, FH_E_LIMIT, "%d runs wait for their turn; no more may wait", FH_RUNS_WAITING_MAX);
		if (err)
			err->retryable = true;
		return r;
	}
	struct fh_deferred *d = FH_NEW(struct fh_deferred);
	*d = *asked;
	d->next = NULL;
	if (e->waiting)
		e->waiting_last->next = d;
	else
		e->waiting = d;
	e->waiting_last = d;
	e->waiting_count++;
	return 0;
}

void fh_queue_forget(struct fh_engine *e, struct fh_connection *c, uint64_t request)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_error_set(&err, FH_E_CANCELLED, "the run was cancelled");
	struct fh_deferred *all = FH_TAKE_PTR(e->waiting), *next;
	bool found = false;
	e->waiting_count = 0;
	for (struct fh_deferred *d = all; d; d = next) {
		next = d->next;
		if (d->connection != c || (request && d->request != request)) {
			(void)fh_queue_add(e, d, NULL);
		} else {
			found = true;
			fh_plan_free(d->plan);
		}
		free(d);
	}
	if (found && request)
		fh_connection_error(c, request, &err);
}

static void serve(struct fh_engine *e, const struct fh_deferred *d)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_sandbox *b = NULL;
	int r = fh_run_start_now(e, d, &b, &err);
	if (r < 0)
		fh_connection_error(d->connection, d->request, &err);
	else if (b)
		fh_run_begin(b);
}

/* Called from the loop, never by code that ends a sandbox, since its caller may be iterating over the sandboxes. */
static void on_turn(struct fh_timer *t)
{
	struct fh_engine *e = t->owner;
	while (e->waiting && !e->leaving && e->making_count < FH_RUNS_MAKING_MAX) {
		struct fh_deferred *d = e->waiting;
		e->waiting = d->next;
		e->waiting_count--;
		serve(e, d);
		free(d);
	}
}

void fh_queue_count(struct fh_sandbox *b)
{
	b->counted = true;
	b->engine->making_count++;
}

void fh_queue_is_made(struct fh_sandbox *b)
{
	struct fh_engine *e = b->engine;
	if (!b->counted)
		return;
	b->counted = false;
	e->making_count--;
	if (!e->waiting || e->waiting_timer.slot)
		return;
	fh_timer_prepare(e->loop, &e->waiting_timer, on_turn, e);
	fh_timer_set(e->loop, &e->waiting_timer, fh_now_ns());
}
