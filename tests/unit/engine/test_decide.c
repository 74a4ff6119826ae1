/* SPDX-License-Identifier: MIT */
/* What the engine decides about sandboxes that are made ahead of the request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "engine/warm/decide.h"
#include "proto/plan.h"

/* ---------------------------------------------------------------------------------------- which template, and how */

static const struct template_row {
	const char *what;
	struct fh_start_facts facts;
	enum fh_template_step step;
	const char *why; /* of FRESH: a part of it */
} template_rows[] = {
	{ "a fresh start that was asked for has no reason", { .asked = FH_START_FRESH, .seen = true }, FH_STEP_FRESH, "" },
	{ "even where a template is there",
	  { .asked = FH_START_FRESH, .seen = true, .health = FH_HEALTH_SERVING },
	  FH_STEP_FRESH,
	  "" },
	{ "an engine that makes nothing ahead",
	  { .engine_is_fresh = true, .seen = true },
	  FH_STEP_FRESH,
	  "makes nothing ahead" },
	{ "a plan that no template can be made of",
	  { .unfit = "it has a terminal", .seen = true },
	  FH_STEP_FRESH,
	  "a terminal" },
	{ "the first run of its kind", { .seen = false }, FH_STEP_FRESH, "first run of its kind" },
	{ "the second run of its kind", { .seen = true }, FH_STEP_MAKE, NULL },
	{ "the first run of its kind in a service", { .eager = true }, FH_STEP_MAKE, NULL },
	{ "a demanded parked start does not wait for a second run", { .asked = FH_START_PARKED }, FH_STEP_MAKE, NULL },
	{ "a demanded zygote", { .asked = FH_START_ZYGOTE, .has_zygote = true }, FH_STEP_MAKE, NULL },
	{ "a zygote of a command that can have none",
	  { .asked = FH_START_ZYGOTE },
	  FH_STEP_FRESH,
	  "no zygote for this command" },
	{ "a template that serves", { .health = FH_HEALTH_SERVING }, FH_STEP_USE, NULL },
	{ "a template that is being made is used, not made twice",
	  { .health = FH_HEALTH_MAKING, .seen = true },
	  FH_STEP_USE,
	  NULL },
	{ "a template that broke is not tried again at once",
	  { .health = FH_HEALTH_BROKEN, .broken_why = "its zygote died", .seen = true },
	  FH_STEP_FRESH,
	  "its zygote died" },
};

static void the_template_of_a_run(void **state)
{
	for (const struct template_row *row = template_rows; row < template_rows + FH_ARRAY_SIZE(template_rows); row++) {
		const char *why = NULL;
		print_message("  %s\n", row->what);
		assert_int_equal(fh_decide_template(&row->facts, &why), row->step);
		if (!row->why)
			assert_null(why);
		else if (!row->why[0])
			assert_string_equal(why, "");
		else
			assert_non_null(strstr(why, row->why));
	}
}

static void what_a_template_offers(void **state)
{
	assert_int_equal(fh_decide_offer(&(struct fh_template_offer){ false, true, true }), FH_CHOICE_FRESH);
	assert_int_equal(fh_decide_offer(&(struct fh_template_offer){ true, true, false }), FH_CHOICE_PARKED);
	assert_int_equal(fh_decide_offer(&(struct fh_template_offer){ true, false, true }), FH_CHOICE_TEMPLATE);
	/* one whose first sandbox is not ready yet could fail: nothing is made of it before */
	assert_int_equal(fh_decide_offer(&(struct fh_template_offer){ true, false, false }), FH_CHOICE_FRESH);
}

static const struct {
	enum fh_start asked;
	enum fh_choice offer;
	bool may_wait;
	enum fh_choice choice;
} choice_rows[] = {
	{ FH_START_AUTO, FH_CHOICE_FRESH, true, FH_CHOICE_FRESH },
	{ FH_START_AUTO, FH_CHOICE_TEMPLATE, true, FH_CHOICE_TEMPLATE },
	{ FH_START_AUTO, FH_CHOICE_PARKED, false, FH_CHOICE_PARKED },
	{ FH_START_PARKED, FH_CHOICE_PARKED, false, FH_CHOICE_PARKED },
	{ FH_START_PARKED, FH_CHOICE_TEMPLATE, true, FH_CHOICE_DEFER },
	{ FH_START_PARKED, FH_CHOICE_FRESH, true, FH_CHOICE_DEFER },
	{ FH_START_PARKED, FH_CHOICE_TEMPLATE, false, FH_CHOICE_REFUSE },
	{ FH_START_ZYGOTE, FH_CHOICE_FRESH, false, FH_CHOICE_TEMPLATE }, /* it waits until the zygote serves */
	{ FH_START_ZYGOTE, FH_CHOICE_PARKED, true, FH_CHOICE_TEMPLATE },
};

static void how_a_run_starts(void **state)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(choice_rows); i++)
		assert_int_equal(fh_decide_choice(choice_rows[i].asked, choice_rows[i].offer, choice_rows[i].may_wait),
		                 choice_rows[i].choice);
}

/* --------------------------------------------------------------------------------------------- room for templates */

static void the_template_that_gives_way(void **state)
{
	const struct fh_template_use some[] = { { false, 30 }, { true, 10 }, { false, 20 } };
	const struct fh_template_use busy[] = { { true, 1 }, { true, 2 } };
	assert_int_equal(fh_decide_eviction(NULL, 0, 16), -1);
	assert_int_equal(fh_decide_eviction(some, 3, 4), -1);
	assert_int_equal(fh_decide_eviction(some, 3, 3), 2); /* unused for longest of those that can go */
	assert_int_equal(fh_decide_eviction(busy, 2, 2), -2);
}

static void the_fate_of_a_template(void **state)
{
	const struct fh_template_bounds bounds = { .idle_ms = 1000, .age_ms = 5000, .forks = 100 };
	const struct {
		const char *what;
		struct fh_template_age age;
		enum fh_template_fate fate;
	} rows[] = {
		{ "young and used", { .age_ms = 10, .forks = 5 }, FH_FATE_STAYS },
		{ "idle, but not for long", { .idle = true, .unused_ms = 1000 }, FH_FATE_STAYS },
		{ "idle for long", { .idle = true, .unused_ms = 1001 }, FH_FATE_ENDS },
		{ "unused for long, with a run that still goes on", { .unused_ms = 9000 }, FH_FATE_STAYS },
		{ "old", { .age_ms = 5001 }, FH_FATE_IS_SUCCEEDED },
		{ "used up", { .forks = 100 }, FH_FATE_IS_SUCCEEDED },
		{ "used up, and its successor is being made", { .forks = 100, .succeeded = true }, FH_FATE_STAYS },
		{ "old and idle for long: no successor for one that nobody needs",
		  { .idle = true, .unused_ms = 9000, .age_ms = 9000 },
		  FH_FATE_ENDS },
		{ "a branch of a trunk that serves", { .is_branch = true, .age_ms = 9000, .forks = 900 }, FH_FATE_STAYS },
		{ "a branch whose trunk is gone", { .is_branch = true, .trunk_is_gone = true }, FH_FATE_IS_SUCCEEDED },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		print_message("  %s\n", rows[i].what);
		assert_int_equal(fh_decide_fate(&rows[i].age, &bounds), rows[i].fate);
	}
}

/* ------------------------------------------------------------------------------------------------------- the pool */

/* How many sandboxes a pool makes one after the other before it has enough, when none gets ready meanwhile. */
static size_t made_at_once(struct fh_pool_facts f, size_t cpus)
{
	size_t n = 0;
	for (; fh_pool_lacks(&f, cpus); n++) {
		f.making++;
		f.parked_everywhere++;
	}
	return n;
}

static void a_pool_is_filled_bit_by_bit(void **state)
{
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 1 }, 2), 1);
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 8 }, 2), 2);
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 8, .making = 1 }, 2), 1);
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 4, .parked = 4, .parked_everywhere = 4 }, 2), 0);
	/* who waits gets one beyond the target */
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 1, .parked = 1, .waiting = 1 }, 2), 1);
	/* all pools together are bounded */
	size_t most = fh_pool_most(2);
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 8, .parked_everywhere = most }, 2), 0);
	assert_int_equal(made_at_once((struct fh_pool_facts){ .target = 8, .parked_everywhere = most - 1 }, 2), 1);
}

static void a_pool_follows_the_load(void **state)
{
	size_t target = 1;
	for (int i = 0; i < 20; i++)
		target = fh_pool_grown(target, 2);
	assert_int_equal(target, fh_pool_most(2));
	assert_int_equal(fh_pool_shrunk(target, 0, 0), target);     /* all were needed */
	assert_int_equal(fh_pool_shrunk(target, 3, 0), target - 1); /* some were not: one less at each look */
	assert_int_equal(fh_pool_shrunk(1, 1, 0), 1);
	assert_int_equal(fh_pool_shrunk(target, 0, 30001), 1); /* quiet */
}

/* ------------------------------------------------------------------------------------------------------- branches */

static void the_nearest_zygote(void **state)
{
	char name_json[] = "json", name_numpy[] = "numpy", name_scipy[] = "scipy", path[] = "/usr/lib/driver.py";
	char *none[] = { NULL }, *json[] = { name_json, NULL }, *both[] = { name_json, name_numpy, NULL };
	char *other[] = { name_scipy, NULL }, *driver[] = { name_json, path, NULL };
	assert_int_equal(fh_decide_nearness(both, none), 0);
	assert_int_equal(fh_decide_nearness(both, json), 1);
	assert_int_equal(fh_decide_nearness(both, both), -1);  /* the same is no branch */
	assert_int_equal(fh_decide_nearness(both, other), -1); /* a module cannot be taken away */
	assert_int_equal(fh_decide_nearness(json, both), -1);
	assert_true(fh_modules_can_branch(both));
	assert_false(fh_modules_can_branch(none));
	assert_false(fh_modules_can_branch(driver));
}

static void a_zygote_whose_modules_were_replaced_is_no_base(void **state)
{
	char name_json[] = "json", name_numpy[] = "numpy", old[] = "0a", new[] = "0b", none[] = "";
	char *modules[] = { name_json, name_numpy, NULL }, *numpy[] = { name_numpy, NULL }, *nothing[] = { NULL };
	char *wanted_ids[] = { none, new, NULL }, *same[] = { new, NULL }, *other[] = { old, NULL };
	const struct fh_plan_zygote wanted = { .preload = modules, .preload_identity = wanted_ids };
	assert_true(fh_modules_agree(&wanted, &(struct fh_plan_zygote){ .preload = nothing, .preload_identity = nothing }));
	assert_true(fh_modules_agree(&wanted, &(struct fh_plan_zygote){ .preload = numpy, .preload_identity = same }));
	assert_false(fh_modules_agree(&wanted, &(struct fh_plan_zygote){ .preload = numpy, .preload_identity = other }));
	/* one from a client that sends no identities */
	assert_false(fh_modules_agree(&wanted, &(struct fh_plan_zygote){ .preload = numpy, .preload_identity = nothing }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zygote_whose_modules_were_replaced_is_no_base),
		cmocka_unit_test(the_template_of_a_run),
		cmocka_unit_test(what_a_template_offers),
		cmocka_unit_test(how_a_run_starts),
		cmocka_unit_test(the_template_that_gives_way),
		cmocka_unit_test(the_fate_of_a_template),
		cmocka_unit_test(a_pool_is_filled_bit_by_bit),
		cmocka_unit_test(a_pool_follows_the_load),
		cmocka_unit_test(the_nearest_zygote),
	};
	return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
