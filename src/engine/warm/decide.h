/* SPDX-License-Identifier: MIT */
/*
 * The engine's decisions about what is made ahead of requests: which template serves a run, which template is ended to
 * make room, how large a pool is, from which zygote another is branched, when a template is replaced.
 *
 * All are functions of plain data, which use no engine, read no clock and change nothing. choose.c, pool.c and branch.c
 * collect the facts and carry out the decisions.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fumehood/sandbox.h"

/* ---------------------------------------------------------------------------------------- which template, and how */

enum fh_template_health {
	FH_HEALTH_NONE,   /* no template was made for such runs */
	FH_HEALTH_MAKING, /* the template is being made */
	FH_HEALTH_SERVING,
	FH_HEALTH_BROKEN,
};

struct fh_start_facts {
	enum fh_start asked;  /* the start that the plan asks for */
	bool engine_is_fresh; /* this engine was told to make nothing ahead */
	const char *unfit;    /* why no template can be made for the plan; NULL: it can */
	bool has_zygote;      /* the plan's command has an interpreter that can be started ahead */
	enum fh_template_health health;
	const char *broken_why; /* the reason, if health is BROKEN */
	bool eager;             /* for a service: a template is made at the first run of a kind */
	bool seen;              /* this engine had a run of this kind before */
};

enum fh_template_step {
	FH_STEP_FRESH, /* the run starts without a template */
	FH_STEP_USE,   /* the existing template serves the run */
	FH_STEP_MAKE,  /* a template has to be made */
};

/* *ret_why is set for FRESH: the reason for the user; "" if the plan itself asks for a fresh start. */
enum fh_template_step fh_decide_template(const struct fh_start_facts *f, const char **ret_why);

/* Whether a plan that asks for this start gets an error if it is not possible, instead of a fresh start. */
bool fh_start_is_demanded(enum fh_start asked);

/* How a run starts. */
enum fh_choice {
	FH_CHOICE_FRESH,    /* in a sandbox that is made from nothing */
	FH_CHOICE_TEMPLATE, /* in a sandbox that is made from a template */
	FH_CHOICE_PARKED,   /* in a parked sandbox */
	FH_CHOICE_DEFER,    /* in the next parked sandbox, for which it waits */
	/* the run does not start: the start that its plan demands is not available, and the run may not wait */
	FH_CHOICE_REFUSE,
};

struct fh_template_offer {
	bool serving;
	bool parked_fits; /* a parked sandbox exists, and the plan's limits can be set in it */
	bool proven;      /* a sandbox made from the template was ready before */
};
/* The fastest start that a template can give a run now: FRESH (it cannot help), TEMPLATE or PARKED. */
enum fh_choice fh_decide_offer(const struct fh_template_offer *o);
/* How a run starts if its template has that offer. */
enum fh_choice fh_decide_choice(enum fh_start asked, enum fh_choice offer, bool may_wait);

/* --------------------------------------------------------------------------------------------- room for templates */

struct fh_template_use {
	bool busy; /* is being made or ended, or has sandboxes that run: may not be ended now */
	int64_t used_ns;
};
/* Which of n templates to end to make room for one more, where at most `most` may exist: its index; -1: there is room;
 * -2: all are busy. */
ssize_t fh_decide_eviction(const struct fh_template_use *templates, size_t n, size_t most);

/* ------------------------------------------------------------------------------------------------- the age of one */

enum fh_template_fate { FH_FATE_STAYS, FH_FATE_ENDS, FH_FATE_IS_SUCCEEDED };
struct fh_template_age {
	bool idle; /* used by nothing but the template's own parked sandboxes */
	int64_t unused_ms, age_ms;
	uint64_t forks;     /* programs that its zygote has forked */
	bool trunk_is_gone; /* it is a branch whose trunk serves no requests any more */
	bool is_branch;     /* age and forks are judged for the trunk, not for a branch */
	bool succeeded;     /* another template is being made to replace this one */
};
struct fh_template_bounds {
	int64_t idle_ms, age_ms;
	uint64_t forks;
};
enum fh_template_fate fh_decide_fate(const struct fh_template_age *a, const struct fh_template_bounds *bounds);

/* ------------------------------------------------------------------------------------------------------- the pool */

struct fh_pool_facts {
	size_t target;            /* how many parked sandboxes the template should have */
	size_t waiting;           /* runs that wait for one, in addition to the target */
	size_t parked, making;    /* sandboxes of this template; `parked` does not include those being made */
	size_t parked_everywhere; /* of all templates, including those being made */
};
/* The limit for parked sandboxes of all templates together. */
size_t fh_pool_most(size_t cpus);
/* Whether one more sandbox should be made now. */
bool fh_pool_lacks(const struct fh_pool_facts *f, size_t cpus);
/* The target after a run found the pool empty: doubled, within the limit. */
size_t fh_pool_grown(size_t target, size_t cpus);
/* The target after a periodic look. `spare`: the smallest size of the pool since the last look; unused_ms: time since
 * the last run. */
size_t fh_pool_shrunk(size_t target, size_t spare, int64_t unused_ms);

/* ------------------------------------------------------------------------------------------------------- branches */

bool fh_modules_have(char *const *modules, const char *name);
/* How near a zygote with the modules `had` is to one with `wanted`: the number of modules that need not be imported
 * again; -1 if it has a module too many, or all of them. Both lists end with NULL. */
ssize_t fh_decide_nearness(char *const *wanted, char *const *had);
/* Whether the modules that `had` has imported are those that `wanted` would import: not, if one has been replaced since
 * then. */
struct fh_plan_zygote;
bool fh_modules_agree(const struct fh_plan_zygote *wanted, const struct fh_plan_zygote *had);
/* Whether a zygote may be branched for these modules. Not for an empty list, and not for modules named by a path: those
 * are the judge's drivers, and judge and candidate must share nothing. */
bool fh_modules_can_branch(char *const *wanted);
