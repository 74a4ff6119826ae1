/* SPDX-License-Identifier: MIT */
#include "engine/warm/decide.h"

#include <string.h>

#include "base/base.h"
#include "proto/plan.h"

bool fh_start_is_demanded(enum fh_start asked)
{
	return asked == FH_START_ZYGOTE || asked == FH_START_PARKED;
}

enum fh_template_step fh_decide_template(const struct fh_start_facts *f, const char **ret_why)
{
	const char *why = NULL;
	if (f->asked == FH_START_FRESH)
		why = "";
	else if (f->engine_is_fresh)
		why = "this engine makes nothing ahead";
	else if (f->unfit)
		why = f->unfit;
	else if (f->asked == FH_START_ZYGOTE && !f->has_zygote)
		why = "there is no zygote for this command, or its environment is not the language's own";
	else if (f->health == FH_HEALTH_BROKEN)
		why = f->broken_why;
	else if (f->health != FH_HEALTH_NONE)
		return FH_STEP_USE;
	else if (!fh_start_is_demanded(f->asked) && !f->seen && !f->eager)
		why = "it is the first run of its kind in this engine";
	else
		return FH_STEP_MAKE;
	*ret_why = why;
	return FH_STEP_FRESH;
}

enum fh_choice fh_decide_offer(const struct fh_template_offer *o)
{
	if (!o->serving)
		return FH_CHOICE_FRESH;
	if (o->parked_fits)
		return FH_CHOICE_PARKED;
	return o->proven ? FH_CHOICE_TEMPLATE : FH_CHOICE_FRESH;
}

enum fh_choice fh_decide_choice(enum fh_start asked, enum fh_choice offer, bool may_wait)
{
	if (asked == FH_START_ZYGOTE)
		return FH_CHOICE_TEMPLATE;
	if (asked == FH_START_PARKED && offer != FH_CHOICE_PARKED)
		return may_wait ? FH_CHOICE_DEFER : FH_CHOICE_REFUSE;
	return offer;
}

ssize_t fh_decide_eviction(const struct fh_template_use *templates, size_t n, size_t most)
{
	ssize_t oldest = -2;
	if (n < most)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!templates[i].busy && (oldest < 0 || templates[i].used_ns < templates[oldest].used_ns))
			oldest = (ssize_t)i;
	return oldest;
}

enum fh_template_fate fh_decide_fate(const struct fh_template_age *a, const struct fh_template_bounds *bounds)
{
	bool old = a->is_branch ? a->trunk_is_gone : a->forks >= bounds->forks || a->age_ms > bounds->age_ms;
	if (a->idle && a->unused_ms > bounds->idle_ms)
		return FH_FATE_ENDS;
	return old && !a->succeeded ? FH_FATE_IS_SUCCEEDED : FH_FATE_STAYS;
}

/* ------------------------------------------------------------------------------------------------------- the pool */

enum { MAKING_MAX = 2, PARKED_BASE = 8, PARKED_FOR_EACH_CPU = 4, QUIET_MS = 30000 };

size_t fh_pool_most(size_t cpus)
{
	return PARKED_BASE + PARKED_FOR_EACH_CPU * cpus;
}

bool fh_pool_lacks(const struct fh_pool_facts *f, size_t cpus)
{
	return f->making < MAKING_MAX && f->parked + f->making < f->target + f->waiting &&
	       f->parked_everywhere < fh_pool_most(cpus);
}

size_t fh_pool_grown(size_t target, size_t cpus)
{
	return FH_MIN(target * 2, fh_pool_most(cpus));
}

size_t fh_pool_shrunk(size_t target, size_t spare, int64_t unused_ms)
{
	if (unused_ms > QUIET_MS)
		return 1;
	return spare > 0 && target > 1 ? target - 1 : target;
}

/* ------------------------------------------------------------------------------------------------------- branches */

bool fh_modules_have(char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool fh_modules_can_branch(char *const *wanted)
{
	for (size_t i = 0; wanted[i]; i++)
		if (strchr(wanted[i], '/'))
			return false;
	return wanted[0] != NULL;
}

/* The identity of a module in the list; "" if it is not known. */
static const char *identity_of(const struct fh_plan_zygote *z, const char *module)
{
	for (size_t i = 0; z->preload[i] && z->preload_identity[i]; i++)
		if (strcmp(z->preload[i], module) == 0)
			return z->preload_identity[i];
	return "";
}

bool fh_modules_agree(const struct fh_plan_zygote *wanted, const struct fh_plan_zygote *had)
{
	for (char *const *module = had->preload; *module; module++)
		if (strcmp(identity_of(wanted, *module), identity_of(had, *module)) != 0)
			return false;
	return true;
}

ssize_t fh_decide_nearness(char *const *wanted, char *const *had)
{
	size_t n = 0, all = 0;
	for (; had[n]; n++)
		if (!fh_modules_have(wanted, had[n]))
			return -1;
	while (wanted[all])
		all++;
	return n < all ? (ssize_t)n : -1;
}
