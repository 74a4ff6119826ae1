/* SPDX-License-Identifier: MIT */
/*
 * What the engine decides about sandboxes that are made ahead of the request: which template serves a run, which
 * template gives way to another, how large a pool is, from which zygote another is branched, when a template is
 * replaced.
 *
 * Functions of plain data: they know no engine, read no clock and change nothing. choose.c, pool.c and branch.c collect
 * the facts and carry the decisions out.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fumehood/sandbox.h"

/* ------------------------------------------------------------------------------------------- which template, and how
 */

enum fh_template_health {
	FH_HEALTH_NONE,   /* there is no template for such runs */
	FH_HEALTH_MAKING, /* it is being made */
	FH_HEALTH_SERVING,
	FH_HEALTH_BROKEN,
};

struct fh_start_facts {
	enum fh_start asked;  /* by the plan */
	bool engine_is_fresh; /* this engine was told to make nothing ahead */
	const char *unfit;    /* why no template can be made of the plan; NULL: one can */
	bool has_zygote;      /* the plan's command has an interpreter that can be started ahead */
	enum fh_template_health health;
	const char *broken_why; /* BROKEN: the reason */
	bool eager;             /* a service: templates are made for the first run of a kind already */
	bool seen;              /* this engine had a run of this kind before */
};

enum fh_template_step {
	FH_STEP_FRESH, /* the run goes without a template */
	FH_STEP_USE,   /* the template that there is serves it */
	FH_STEP_MAKE,  /* a template is to be made */
};

/* *ret_why, for FRESH: the reason for people, "" where the plan itself asks for a fresh start. */
enum fh_template_step fh_decide_template(const struct fh_start_facts *f, const char **ret_why);

/* Whether a plan that asks for this start gets an error, rather than a fresh start, where it cannot be. */
bool fh_start_is_demanded(enum fh_start asked);

/* How a run starts. */
enum fh_choice {
	FH_CHOICE_FRESH,    /* in a sandbox that is made for it from nothing */
	FH_CHOICE_TEMPLATE, /* in a sandbox that is made for it from a template */
	FH_CHOICE_PARKED,   /* in a parked sandbox */
	FH_CHOICE_DEFER,    /* in the next parked sandbox, which it waits for */
	FH_CHOICE_REFUSE,   /* not at all: the plan demands what is not there, and the run cannot wait */
};

struct fh_template_offer {
	bool serving;
	bool parked_fits; /* a sandbox is parked, and the plan's limits can be set in it */
	bool proven;      /* a sandbox of the template became ready before */
};
/* What a template has for a run at this moment: FRESH (nothing), TEMPLATE or PARKED. */
enum fh_choice fh_decide_offer(const struct fh_template_offer *o);
/* How a run starts that has a template with that offer. */
enum fh_choice fh_decide_choice(enum fh_start asked, enum fh_choice offer, bool may_wait);

/* ------------------------------------------------------------------------------------------------- room for templates
 */

struct fh_template_use {
	bool busy; /* it is being made or ended, or somebody needs it: it must stay */
	int64_t used_ns;
};
/* Which of n templates gives way where at most `most` may be: its index; -1: there is room without; -2: all are busy.
 */
ssize_t fh_decide_eviction(const struct fh_template_use *templates, size_t n, size_t most);

/* ----------------------------------------------------------------------------------------------------- the age of one
 */

enum fh_template_fate { FH_FATE_STAYS, FH_FATE_ENDS, FH_FATE_IS_SUCCEEDED };
struct fh_template_age {
	bool idle; /* it has no user but its own parked sandboxes */
	int64_t unused_ms, age_ms;
	uint64_t forks;     /* programs that its zygote has forked */
	bool trunk_is_gone; /* a branch, and the template that it grew from serves no more */
	bool is_branch;     /* age and forks are its trunk's business */
	bool succeeded;     /* its successor is there already */
};
struct fh_template_bounds {
	int64_t idle_ms, age_ms;
	uint64_t forks;
};
enum fh_template_fate fh_decide_fate(const struct fh_template_age *a, const struct fh_template_bounds *bounds);

/* ------------------------------------------------------------------------------------------------------------ the pool
 */

struct fh_pool_facts {
	size_t target;            /* how many parked sandboxes the template keeps */
	size_t waiting;           /* runs that wait for one, beyond the target */
	size_t parked, making;    /* of this template; those that are being made are not among the parked */
	size_t parked_everywhere; /* of all templates, with those that are being made */
};
/* The most parked sandboxes of all templates together. */
size_t fh_pool_most(size_t cpus);
/* Whether one more is to be made now. */
bool fh_pool_lacks(const struct fh_pool_facts *f, size_t cpus);
/* The target after a run found no parked sandbox: it doubles. */
size_t fh_pool_grown(size_t target, size_t cpus);
/* The target after a look. `spare`: the fewest that were parked since the look before; unused_ms: since the last run.
 */
size_t fh_pool_shrunk(size_t target, size_t spare, int64_t unused_ms);

/* ------------------------------------------------------------------------------------------------------------ branches
 */

bool fh_modules_have(char *const *modules, const char *name);
/* Whether a zygote with the modules `had` can be branched into one with `wanted`, and how near it is: the number of
 * modules that need not be imported again; -1 where it has one too many or nothing is missing. Both end with NULL. */
ssize_t fh_decide_nearness(char *const *wanted, char *const *had);
/* Whether any zygote can be branched for these modules: not for none, and not for those that are named by a path (the
 * judge's drivers: judge and candidate must share nothing). */
bool fh_modules_can_branch(char *const *wanted);
