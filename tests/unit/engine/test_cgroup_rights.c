/* SPDX-License-Identifier: MIT */
/* Which control group is the engine's to use, decided on paths as they are on real hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/base.h"
#include "engine/host/cgroup_rights.h"

enum { ROOT = 0, ME = 1000, OTHER = 1001 };

#define TOP                                                                                                            \
	{                                                                                                                  \
		.name = "", .root_of_hierarchy = true                                                                          \
	}
#define USERS                                                                                                          \
	{ .name = "user.slice" },                                                                                          \
	{                                                                                                                  \
		.name = "user-1000.slice"                                                                                      \
	}
#define MANAGER { .name = "user@1000.service", .owner = ME, .delegated = true }, USERS, TOP

static const struct row {
	const char *what;
	uid_t us;
	int ours;
	struct fh_cgroup_level levels[FH_CGROUP_LEVELS_MAX];
	size_t n;
} rows[] = {
	/* the group itself is handed over */
	{ "systemd-run --user --scope -p Delegate=yes",
	  ME,
	  0,
	  { { .name = "run-r1.scope", .owner = ME, .delegated = true }, { .name = "app.slice", .owner = ME }, MANAGER },
	  6 },
	{ "a service with Delegate=yes",
	  ME,
	  0,
	  { { .name = "fumehood-engine.service", .owner = ME, .delegated = true },
	    { .name = "app.slice", .owner = ME },
	    MANAGER },
	  6 },
	{ "systemd-run --scope -p Delegate=yes, as root",
	  ROOT,
	  0,
	  { { .name = "run-r2.scope", .delegated = true }, { .name = "system.slice" }, TOP },
	  3 },
	{ "a folder that root made by hand and gave to the user", ME, 0, { { .name = "delegated", .owner = ME }, TOP }, 2 },
	{ "the same below a slice", ME, 0, { { .name = "mine", .owner = ME }, { .name = "system.slice" }, TOP }, 3 },
	{ "the root of a container, as root", ROOT, 0, { { .name = "", .root_of_namespace = true } }, 1 },
	{ "the root of a container that is the user's",
	  ME,
	  0,
	  { { .name = "", .owner = ME, .root_of_namespace = true } },
	  1 },
	/* one above it is */
	{ "a payload's folder in a scope that is delegated",
	  ME,
	  1,
	  { { .name = "payload", .owner = ME },
	    { .name = "run-r3.scope", .owner = ME, .delegated = true },
	    { .name = "app.slice", .owner = ME },
	    MANAGER },
	  7 },
	{ "a folder in what was given by hand",
	  ME,
	  2,
	  { { .name = "b", .owner = ME }, { .name = "a", .owner = ME }, { .name = "mine", .owner = ME }, TOP },
	  4 },
	{ "a container whose processes were moved down",
	  ROOT,
	  1,
	  { { .name = "init" }, { .name = "", .root_of_namespace = true } },
	  2 },
	/* it belongs to a service manager, whoever may write to it */
	{ "a terminal below the user's service manager",
	  ME,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "vte-spawn-1.scope", .owner = ME },
	    { .name = "app-org.gnome.Terminal.slice", .owner = ME },
	    { .name = "app.slice", .owner = ME },
	    MANAGER },
	  7 },
	{ "a service of the user's without Delegate",
	  ME,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "agent.service", .owner = ME }, { .name = "app.slice", .owner = ME }, MANAGER },
	  6 },
	{ "the user's service manager itself", ME, FH_CGROUP_NOT_OURS, { MANAGER }, 4 },
	{ "a folder that somebody made in the manager's own",
	  ME,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "x", .owner = ME }, MANAGER },
	  5 },
	{ "a login session",
	  ME,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "session-1.scope" }, { .name = "user-1000.slice" }, { .name = "user.slice" }, TOP },
	  4 },
	{ "a login session of root's",
	  ROOT,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "session-1.scope" }, { .name = "user-0.slice" }, { .name = "user.slice" }, TOP },
	  4 },
	{ "a scope that looks as if it were given by hand",
	  ME,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "session-2.scope", .owner = ME }, { .name = "user-1000.slice" }, TOP },
	  3 },
	{ "a service of a container that has a service manager",
	  ROOT,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "x.service" }, { .name = "system.slice" }, { .name = "", .root_of_namespace = true } },
	  3 },
	/* it is nobody's */
	{ "the root of the host",
	  ROOT,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "", .root_of_hierarchy = true, .root_of_namespace = true } },
	  1 },
	{ "the root of the host, marked by mistake",
	  ROOT,
	  FH_CGROUP_NOT_OURS,
	  { { .name = "", .root_of_hierarchy = true, .delegated = true } },
	  1 },
	{ "another's folder", ME, FH_CGROUP_NOT_OURS, { { .name = "theirs", .owner = OTHER }, TOP }, 2 },
	{ "a folder of root's, as root", ROOT, FH_CGROUP_NOT_OURS, { { .name = "made-by-hand" }, TOP }, 2 },
	{ "nothing above it can be seen", ME, FH_CGROUP_NOT_OURS, { { .name = "mine", .owner = ME } }, 1 },
	{ "no level at all", ME, FH_CGROUP_NOT_OURS, { { .name = "" } }, 0 },
};

static void test_whose_group_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		int got = fh_cgroup_ours(rows[i].levels, rows[i].n, rows[i].us);
		if (got != rows[i].ours)
			fail_msg("%s: %d, not %d", rows[i].what, got, rows[i].ours);
	}
}

/* Names that end like a unit's, and are none. */
static void test_what_a_unit_is(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int ours;
	} names[] = { { "x.scope", FH_CGROUP_NOT_OURS },
		          { "x.scope.d", 0 },
		          { ".scope", 0 },
		          { "scope", 0 },
		          { "x.mount", 0 },
		          { "x.slice", FH_CGROUP_NOT_OURS },
		          { "x.service", FH_CGROUP_NOT_OURS },
		          { "user@1000", 0 },
		          { "", 0 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		const struct fh_cgroup_level levels[] = { { .name = names[i].name, .owner = ME }, TOP };
		if (fh_cgroup_ours(levels, 2, ME) != names[i].ours)
			fail_msg("%s", names[i].name);
	}
}

/* On folders that are no control groups: there is no cgroup.type, so the first is taken for the root of the hierarchy.
 */
static void test_a_folder_outside_of_the_mount(void **state)
{
	(void)state;
	char dir[64] = "/usr/lib", outside[64] = "/etc";
	assert_int_equal(fh_cgroup_find_ours(dir, "/usr", true), FH_CGROUP_NOT_OURS);
	assert_string_equal(dir, "/usr/lib");
	assert_int_equal(fh_cgroup_find_ours(outside, "/usr", true), FH_CGROUP_NOT_OURS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_group_it_is),
		cmocka_unit_test(test_what_a_unit_is),
		cmocka_unit_test(test_a_folder_outside_of_the_mount),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
