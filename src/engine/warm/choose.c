// SPDX-License-Identifier: MIT
/* Which template serves a run. */
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

/* FNV-1a; a collision makes a template one run early, and nothing more. */
static uint64_t hash_of(const struct fh_buf *key)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	for (size_t i = 0; i < key->n; i++)
		h = (h ^ (uint8_t)key->p[i]) * 0x100000001b3ULL;
	return h;
}

/* Whether a run of this kind came before; notes this one. */
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

/* Of several with the key, that which serves, else the newest that may come to. */
static struct fh_template *find(struct fh_engine *e, const struct fh_buf *key)
{
	struct fh_template *best = NULL;
	for (struct fh_template *t = e->templates; t; t = t->next)
		if (t->state != FH_TEMPLATE_ENDING && t->key.n == key->n && memcmp(t->key.p, key->p, key->n) == 0 &&
		    (!best || t->state == FH_TEMPLATE_SERVING))
			best = t;
	return best;
}

/* Room for one more: the one that was unused for longest goes, unless all are busy. */
static bool make_room(struct fh_engine *e)
{
	struct fh_template *oldest = NULL;
	size_t n = 0;
	for (struct fh_template *t = e->templates; t; t = t->next) {
		n++;
		if (t->state == FH_TEMPLATE_BROKEN ||
		    (t->state == FH_TEMPLATE_SERVING && !t->branches && t->users == t->parked_count + t->making))
			if (!oldest || t->used_ns < oldest->used_ns)
				oldest = t;
	}
	if (n < FH_TEMPLATES_MAX)
		return true;
	if (oldest)
		fh_template_end(oldest);
	return oldest != NULL;
}

void fh_template_key(struct fh_buf *key, const struct fh_plan *plan, uid_t owner)
{
	fh_plan_encode_key(key, plan, plan->zygote.main_file != 0);
	(void)fh_buf_add(key, &owner, sizeof(owner));
}

/* From the nearest one, or from nothing. */
static struct fh_template *start(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, struct fh_buf *key,
                                 struct fh_error *err)
{
	struct fh_template *from = fh_template_nearest(e, plan, owner);
	struct fh_template *t = from ? fh_template_branch(from, plan, key) : NULL;
	return t ? t : fh_template_start(e, plan, owner, key, err);
}

static int refuse(const struct fh_plan *plan, const char *why, struct fh_error *err)
{
	int r = fh_error_set(err, FH_E_UNAVAILABLE, "a %s start cannot be had: %s", fh_start_name(plan->start), why);
	if (err)
		err->phase = FH_PHASE_CREATE;
	return r;
}

/* What a template has for the plan at this moment. */
static enum fh_choice offer(const struct fh_template *t, const struct fh_plan *plan)
{
	if (t->state != FH_TEMPLATE_SERVING)
		return FH_CHOICE_FRESH;
	if (t->parked && fh_made_fits(t->parked, plan))
		return FH_CHOICE_PARKED;
	return t->proven ? FH_CHOICE_TEMPLATE : FH_CHOICE_FRESH;
}

int fh_template_choose(struct fh_engine *e, const struct fh_plan *plan, uid_t owner, bool may_defer,
                       enum fh_choice *ret_choice, struct fh_template **ret_template, char why[160],
                       struct fh_error *err)
{
	bool wanted = plan->start == FH_START_ZYGOTE || plan->start == FH_START_PARKED;
	enum fh_choice choice = FH_CHOICE_FRESH;
	struct fh_template *t = NULL, *near = NULL;
	struct fh_error reason = FH_ERROR_INIT;
	fh_auto_buf struct fh_buf key = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
	const char *refused = plan->start == FH_START_FRESH ? ""
	                      : e->fresh_only               ? "this engine makes nothing ahead"
	                                                    : fh_template_refuses(plan);
	bool can_be = !refused;
	why[0] = 0;
	if (!refused && plan->start == FH_START_ZYGOTE && !plan->zygote.main_file)
		refused = "there is no zygote for this command, or its environment is not the language's own";
	if (!refused) {
		fh_template_key(&key, plan, owner);
		t = find(e, &key);
		if (t && t->state == FH_TEMPLATE_BROKEN && fh_now_ns() - t->broken_ns > FH_TEMPLATE_BROKEN_MS * FH_NS_PER_MS) {
			fh_template_end(t);
			t = NULL;
		}
		if (t && t->state == FH_TEMPLATE_BROKEN)
			refused = t->why;
		else if (!t && !wanted && !was_seen(e, &key) && !e->service)
			refused = "it is the first run of its kind in this engine";
		else if (!t && !make_room(e))
			refused = "all templates are in use";
		else if (!t && !(t = start(e, plan, owner, &key, &reason)))
			refused = reason.message;
	}
	if (refused) {
		if (wanted)
			return refuse(plan, refused, err);
		snprintf(why, 160, "%.159s", refused);
	} else if (plan->start == FH_START_ZYGOTE) {
		choice = FH_CHOICE_TEMPLATE;
	} else {
		choice = offer(t, plan);
		if (choice != FH_CHOICE_PARKED && plan->start == FH_START_PARKED) {
			if (!may_defer)
				return refuse(plan, "none is parked for a member of a group at this moment", err);
			choice = FH_CHOICE_DEFER;
		} else if (choice == FH_CHOICE_FRESH) {
			snprintf(why, 160, "what it would start from is still being made");
		}
	}
	if (choice == FH_CHOICE_FRESH && can_be && (near = fh_template_nearest(e, plan, owner)) &&
	    (choice = offer(near, plan)) != FH_CHOICE_FRESH) {
		t = near;
		why[0] = 0;
	}
	if (t && t->state == FH_TEMPLATE_SERVING && plan->start != FH_START_ZYGOTE && choice != FH_CHOICE_PARKED)
		fh_pool_missed(t);
	if (t)
		t->used_ns = fh_now_ns();
	*ret_choice = choice;
	*ret_template = t;
	return 0;
}

void fh_template_on_look(struct fh_timer *timer)
{
	struct fh_template *t = timer->owner;
	int64_t now = fh_now_ns();
	bool idle = t->users == t->parked_count + t->making && !t->deferred && !t->branches;
	bool old = t->trunk != t
	               ? t->trunk->state != FH_TEMPLATE_SERVING
	               : t->forks >= FH_TEMPLATE_FORKS_MAX || now - t->born_ns > FH_TEMPLATE_AGE_MS * FH_NS_PER_MS;
	fh_timer_set(t->engine->loop, timer, now + FH_TEMPLATE_LOOK_MS * FH_NS_PER_MS);
	if (idle && now - t->used_ns > FH_TEMPLATE_IDLE_MS * FH_NS_PER_MS) {
		fh_template_end(t);
		return;
	}
	if (!t->succeeded && old) {
		struct fh_buf key = FH_BUF_INIT(FH_FRAME_PAYLOAD_MAX);
		(void)fh_buf_add(&key, t->key.p, t->key.n);
		t->succeeded = start(t->engine, t->plan, t->owner, &key, NULL) != NULL;
		fh_buf_release(&key);
	}
	fh_pool_look(t);
}
