/* SPDX-License-Identifier: MIT */
/*
 * The pool of parked sandboxes: made ahead, each for one run. The number that a template keeps follows the load
 * (decide.h). Refilling gives way to requests: a few sandboxes at most are made at a time.
 */
#include "engine/warm/pool.h"

#include "base/clock.h"
#include "engine/core/sandbox.h"
#include "engine/warm/decide.h"
#include "engine/warm/made.h"

enum { REFILL_NS = 100000 };

static bool lacks_one(const struct fh_template *t)
{
	struct fh_pool_facts f = {
		.target = t->target,
		.parked = t->parked_count,
		.making = t->making,
		.parked_everywhere = t->engine->parked_count,
	};
	for (struct fh_deferred *d = t->deferred; d; d = d->next)
		f.waiting++;
	return fh_pool_lacks(&f, t->engine->cpus);
}

void fh_pool_refill(struct fh_template *t)
{
	while (t->state == FH_TEMPLATE_SERVING && !t->succeeded && !t->engine->leaving && lacks_one(t)) {
		struct fh_sandbox *b;
		if (fh_made_start(t, &fh_pool_owner, NULL, NULL, 0, &b, NULL) < 0)
			return; /* tried again at the next look */
	}
}

static void on_refill(struct fh_timer *timer)
{
	fh_pool_refill(timer->owner);
}

static void serve_waiting(struct fh_template *t)
{
	struct fh_deferred *d = t->deferred;
	struct fh_sandbox *b = fh_pool_take(t);
	if (!b)
		return;
	t->deferred = d->next;
	d->begin(b, d);
	free(d);
}

void fh_pool_wait(struct fh_template *t, const struct fh_deferred *asked)
{
	struct fh_deferred *d = FH_NEW(struct fh_deferred), **end = &t->deferred;
	*d = *asked;
	d->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = d;
	fh_pool_refill(t);
}

static void on_ready(struct fh_sandbox *b)
{
	struct fh_template *t = b->template;
	struct fh_sandbox **end = &t->parked;
	while (*end)
		end = &(*end)->next_parked;
	b->next_parked = NULL;
	*end = b;
	t->making--;
	t->parked_count++;
	if (t->deferred)
		serve_waiting(t);
	fh_pool_refill(t);
}

void fh_pool_missed(struct fh_template *t)
{
	t->target = fh_pool_grown(t->target, t->engine->cpus);
}

struct fh_sandbox *fh_pool_take(struct fh_template *t)
{
	struct fh_sandbox *b = t->parked;
	if (!b)
		return NULL;
	t->parked = b->next_parked;
	b->next_parked = NULL;
	b->parked = false;
	t->parked_count--;
	t->engine->parked_count--;
	t->lowest = FH_MIN(t->lowest, t->parked_count);
	t->refill = (struct fh_timer){ .on_time = on_refill, .owner = t, .slot = t->refill.slot };
	/* refills a little later, so that the run is started first */
	fh_timer_set(t->engine->loop, &t->refill, fh_now_ns() + REFILL_NS);
	return b;
}

/* The sandbox may be in the list of parked ones, or still being made. */
static void on_dying(struct fh_sandbox *b)
{
	struct fh_template *t = b->template;
	if (!b->parked)
		return;
	b->parked = false;
	t->engine->parked_count--;
	for (struct fh_sandbox **p = &t->parked; *p; p = &(*p)->next_parked)
		if (*p == b) {
			*p = b->next_parked;
			t->parked_count--;
			return;
		}
	t->making--;
}

void fh_pool_clear(struct fh_template *t)
{
	for (struct fh_sandbox *b = t->engine->sandboxes, *next; b; b = next) {
		next = b->next;
		if (b->template == t && b->parked)
			fh_sandbox_destroy_now(b);
	}
}

void fh_pool_look(struct fh_template *t)
{
	t->target = fh_pool_shrunk(t->target, t->lowest, (fh_now_ns() - t->used_ns) / FH_NS_PER_MS);
	if (t->parked_count > t->target && t->parked)
		fh_sandbox_destroy_now(t->parked);
	t->lowest = t->parked_count;
	fh_pool_refill(t);
}

/* ---------------------------------------------------------------------------------------------------- their owner */

static void on_gone(struct fh_sandbox *b)
{
	fh_sandbox_release(b);
}

/* The next attempt would fail too, so the template is given up, and runs start fresh. */
static void on_origin_failed(struct fh_sandbox *b, const struct fh_error *err)
{
	fh_template_break(b->template, err->message);
}

const struct fh_owner fh_pool_owner = {
	.on_ready = on_ready,
	.on_gone = on_gone,
	.on_dying = on_dying,
	.on_origin_failed = on_origin_failed,
};
