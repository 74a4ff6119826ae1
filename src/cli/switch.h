/* SPDX-License-Identifier: MIT */
/*
 * The switch: an environment in which Python programs find our modules first, `fumehood` itself and the drop-in ones
 * (python/compat: each module has the name of the package that it replaces); in which shells find our command promptfoo
 * (python/compat/bin); and in which E2B's SDKs use a server of ours.
 *
 * It is computed from the current environment. The earlier value of each variable is kept in a variable of our own
 * (FUMEHOOD_PYTHONPATH_BEFORE, FUMEHOOD_E2B_API_URL_BEFORE, …). So switching on twice has the same effect as once, and
 * switching off restores the earlier values, except for those that were changed since. Without such variables there is
 * nothing to restore.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

struct fh_switch_variable {
	char *name;
	FH_NULLABLE char *value; /* NULL: the variable is unset */
};

struct fh_switch {
	struct fh_switch_variable *variables;
	size_t count;
	char **modules; /* names of the drop-in modules, sorted, NULL at the end */
	char *folder;   /* folder of the drop-in modules */
};

/* What E2B's SDKs get: the server's address, and a key if the user has none. */
struct fh_switch_e2b {
	const char *url, *key;
	FH_NULLABLE const char *domain,
	    *authority; /* for a server with TLS, in place of url: its domain, and whom to trust */
};
#define FH_SWITCH_E2B_KEY "e2b_0000000000000000000000000000000000000000" /* older SDKs check the form of the key */

/* on: our modules come first; else they are removed. FH_E_NOT_FOUND when this installation has none. */
int fh_switch_make(bool on, const struct fh_switch_e2b *e2b, struct fh_switch *ret, struct fh_error *err);
void fh_switch_release(struct fh_switch *s);
