/* SPDX-License-Identifier: MIT */
#include "engine/warm/choose.h"

#include <stdio.h>

#include "base/clock.h"
#include "engine/warm/branch.h"
#include "engine/warm/made.h"
#include "engine/warm/pool.h"

enum { SEEN_MAX = 256 };
struct fh_seen {
	uint64_t hash[SEEN_MAX];
	size_t next;
};

/* FNV-1a. A collision only means that a template is made one run earlier than necessary. */
static uint64_t hash_of(const struct fh_buf *key)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	for (size_t i = 0; i < key->n; i++)
		h = (h ^ (uint8_t)key->p[i]) * 0x100000001b3ULL;
	return h;
}

/* Whether a run of this kind came before; remembers this one. */
static bool was_seen(struct fh_engine *e, const struct fh_buf *key)
{
	uint64_t h = hash_of(key);
	if (!e->seen)
		e->seen = FH_NEW(struct fh_seen);
	for (size_t i = 0; i < SEEN_MAX; i++)
		if (e->seen->hash[i] == h)
			return true;
	e->seen->hash[e->seen->next++ % SEEN_MAX] = h;
	return false;
}

/* The template with that key: a serving one if there is one, else the newest that is not ending. */
static struct fh_template *find(struct fh_engine *e, const struct fh_buf *key)
{
	struct fh_template *best = NULL;
	for (struct fh_template *t = e->templates; t; t = t->next)
		if (t->state != FH_TEMPLATE_ENDING && t->key.n == key->n && memcmp(t->key.p, key->p, key->n) == 0 &&
		    (!best || t->state == FH_TEMPLATE_SERVING))
			best = t;
	return best;
}

/* Makes room for one more template, by ending the one that was unused for longest; false if all are in use. Those that
 * have ended and wait for their sessions do not count: they make nothing, and their number is bounded by that of the
 * sandboxes. */
static bool make_room(struct fh_engine *e)
{
	struct fh_template_use use[FH_TEMPLATES_MAX * 2];
	struct fh_template *all[FH_TEMPLATES_MAX * 2];
	size_t n = 0;
	for (struct fh_template *t = e->templates; t && n < FH_ARRAY_SIZE(use); t = t->next) {
		if (t->state == FH_TEMPLATE_ENDING)
			continue;
		bool spare = t->state == FH_TEMPLATE_BROKEN ||
		             (t->state == FH_TEMPLATE_SERVING && !t->branches && !fh_template_is_busy(t));
		use[n] = (struct fh_template_use){ .busy = !spare, .used_ns = t->used_ns };
		all[n++] = t;
	}
	ssize_t out = fh_decide_eviction(use, n, FH_TEMPLATES_MAX);
	if (out >= 0)
		fh_template_end(all[out]);
	return out != -2;
}

void fh_template_key(struct fh_buf *key, const struct fh_plan *plan, uid_t owner)
{
	fh_plan_encode_key(key, plan, plan->zygote.main_file != 0);
	(void)fh_buf_add(key, &owner, sizeof(owner));
}

/* Starts a template: branched from the nearest one, or a new trunk. */
static struct fh_template *start(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key,
                                 struct fh_error *err)
{
	struct fh_template *from = fh_template_nearest(e, plan, owner);
	struct fh_template *t = from ? fh_template_branch(from, plan, key) : NULL;
	return t ? t : fh_template_start(e, plan, owner, key, err);
}

static int refuse(const struct fh_plan *plan, const char *why, struct fh_error *err)
{
	int r = fh_error_set(err, FH_E_UNAVAILABLE, "a %s start is not possible: %s", fh_start_name(plan->start), why);
	if (err)
		err->phase = FH_PHASE_CREATE;
	return r;
}

static enum fh_choice offer(const struct fh_template *t, const struct fh_plan *plan)
{
	return fh_decide_offer(&(struct fh_template_offer){
	    .serving = t->state == FH_TEMPLATE_SERVING,
	    .parked_fits = t->parked && fh_made_fits(t->parked, plan),
	    .proven = t->proven,
	});
}

static enum fh_template_health health(const struct fh_template *t)
{
	return !t                                ? FH_HEALTH_NONE
	       : t->state == FH_TEMPLATE_BROKEN  ? FH_HEALTH_BROKEN
	       : t->state == FH_TEMPLATE_SERVING ? FH_HEALTH_SERVING
	                                         : FH_HEALTH_MAKING;
}

/* The plan's template, which is made if there is none. NULL: the run starts fresh, for the reason in *ret_why. */
static struct fh_template *find_or_make(struct fh_engine *e, const struct fh_plan *plan, uid_t owner,
                                        struct fh_start_facts *facts, const char **ret_why, struct fh_error *reason)
{
	fh_auto_buf struct fh_buf key = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
	fh_template_key(&key, plan, owner);
	struct fh_template *t = find(e, &key);
	if (t && t->state == FH_TEMPLATE_BROKEN && fh_now_ns() - t->broken_ns > FH_TEMPLATE_BROKEN_MS * FH_NS_PER_MS) {
		fh_template_end(t); /* broken long enough ago to try again */
		t = NULL;
	}
	facts->health = health(t);
	facts->broken_why = t ? t->why : NULL;
	facts->seen = !t && was_seen(e, &key);
	enum fh_template_step step = fh_decide_template(facts, ret_why);
	if (step != FH_STEP_MAKE)
		return step == FH_STEP_USE ? t : NULL;
	if (!make_room(e)) {
		*ret_why = "all templates are in use";
		return NULL;
	}
	t = start(e, plan, owner, &key, reason);
	*ret_why = t ? NULL : reason->message;
	return t;
}

int fh_template_choose(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, bool may_defer,
                       struct fh_chosen *ret, struct fh_error *err)
{
	struct fh_start_facts facts = {
		.asked = plan->start,
		.engine_is_fresh = e->fresh_only,
		.unfit = plan->start == FH_START_FRESH || e->fresh_only ? NULL : fh_template_refuses(plan),
		.has_zygote = plan->zygote.main_file != 0,
		.eager = e->service,
	};
	bool can_be = plan->start != FH_START_FRESH && !e->fresh_only && !facts.unfit;
	enum fh_choice choice = FH_CHOICE_FRESH;
	struct fh_template *t = NULL, *near = NULL;
	struct fh_error reason = FH_ERROR_INIT;
	const char *fresh_why = NULL;
	if (can_be)
		t = find_or_make(e, plan, owner, &facts, &fresh_why, &reason);
	else
		(void)fh_decide_template(&facts, &fresh_why);
	if (!t && fh_start_is_demanded(plan->start))
		return refuse(plan, fresh_why, err);
	if (t)
		choice = fh_decide_choice(plan->start, offer(t, plan), may_defer);
	if (choice == FH_CHOICE_REFUSE)
		return refuse(plan, "no sandbox is parked at the moment", err);
	const char *why = choice != FH_CHOICE_FRESH ? "" : t ? "what it would start from is still being made" : fresh_why;
	if (choice == FH_CHOICE_FRESH && can_be && (near = fh_template_nearest(e, plan, owner)) &&
	    (choice = offer(near, plan)) != FH_CHOICE_FRESH) {
		t = near;
		why = "";
	}
	if (t && t->state == FH_TEMPLATE_SERVING && plan->start != FH_START_ZYGOTE && choice != FH_CHOICE_PARKED)
		fh_pool_missed(t);
	if (t)
		t->used_ns = fh_now_ns();
	*ret = (struct fh_chosen){ .choice = choice, .template = t };
	snprintf(ret->why, sizeof(ret->why), "%s", why);
	return 0;
}

int fh_chosen_make(struct fh_engine *e, const struct fh_chosen *chosen, const struct fh_owner *owner,
                   struct fh_plan *plan, struct fh_connection *c, uint64_t request, struct fh_sandbox **ret,
                   struct fh_error *err)
{
	if (chosen->choice == FH_CHOICE_PARKED) {
		*ret = fh_pool_take(chosen->template);
		fh_made_adopt(*ret, owner, plan, c, request);
		return 0;
	}
	if (chosen->choice == FH_CHOICE_TEMPLATE)
		return fh_made_start(chosen->template, owner, plan, c, request, ret, err);
	int r = fh_sandbox_make(e, owner, plan, c, request, ret, err);
	if (r == 0)
		memcpy((*ret)->start_why, chosen->why, sizeof(chosen->why));
	return r;
}

void fh_template_on_look(struct fh_timer *timer)
{
	struct fh_template *t = timer->owner;
	int64_t now = fh_now_ns();
	const struct fh_template_bounds bounds = { FH_TEMPLATE_IDLE_MS, FH_TEMPLATE_AGE_MS, FH_TEMPLATE_FORKS_MAX };
	enum fh_template_fate fate = fh_decide_fate(
	    &(struct fh_template_age){
	        .idle = !t->deferred && !t->branches && !fh_template_is_busy(t),
	        .unused_ms = (now - t->used_ns) / FH_NS_PER_MS,
	        .age_ms = (now - t->born_ns) / FH_NS_PER_MS,
	        .forks = t->forks,
	        .is_branch = t->trunk != t,
	        .trunk_is_gone = t->trunk->state != FH_TEMPLATE_SERVING,
	        .succeeded = t->succeeded,
	    },
	    &bounds);
	fh_timer_set(t->engine->loop, timer, now + FH_TEMPLATE_LOOK_MS * FH_NS_PER_MS);
	if (fate == FH_FATE_ENDS) {
		fh_template_end(t);
		return;
	}
	if (fate == FH_FATE_IS_SUCCEEDED) {
		struct fh_buf key = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
		(void)fh_buf_add(&key, t->key.p, t->key.n);
		t->succeeded = start(t->engine, t->plan, t->owner, &key, NULL) != NULL;
		fh_buf_release(&key);
	}
	fh_pool_look(t);
}
