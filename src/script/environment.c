/* SPDX-License-Identifier: MIT */
#include "script/environment.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/text/secret.h"

static bool fh_names_own_server(const char *variable)
{
	const char *value = getenv(variable);
	return value && *value && !strstr(value, "e2b.app") && !strstr(value, "e2b.dev");
}

/* E2B's SDKs need a key for every server, also for `fumehood serve`, which `fumehood env` leads them to: a script that
 * uses them has a use for it. Where neither variable names another server, it is the key of E2B's cloud. */
static bool fh_key_of_own_server(const char *name)
{
	return fh_streq(name, "E2B_API_KEY") && (fh_names_own_server("E2B_API_URL") || fh_names_own_server("E2B_DOMAIN"));
}

static bool fh_script_environment_has(const char *name, const char *const *handed_over)
{
	for (size_t i = 0; handed_over && handed_over[i]; i++)
		if (fnmatch(handed_over[i], name, 0) == 0)
			return true;
	return !fh_secret_name(name) || fh_key_of_own_server(name);
}

void fh_script_environment_make(struct fh_script_environment *ret, const json_t *env, const char *const *handed_over)
{
	char **list = NULL, **withheld = NULL;
	size_t n = 0, capacity = 0, withheld_n = 0, withheld_capacity = 0;
	for (size_t i = 0; environ[i]; i++) {
		fh_auto_free char *name = fh_xstrndup(environ[i], strcspn(environ[i], "="));
		if (!fh_script_environment_has(name, handed_over))
			FH_PUSH(withheld, withheld_n, withheld_capacity) = fh_xstrdup(name);
		else if (!json_is_string(json_object_get(env, name)))
			FH_PUSH(list, n, capacity) = fh_xstrdup(environ[i]);
	}
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)env, name, value)
	{
		if (json_is_string(value) && fh_script_environment_has(name, handed_over))
			FH_PUSH(list, n, capacity) = fh_xasprintf("%s=%s", name, json_string_value(value));
		else if (json_is_string(value))
			FH_PUSH(withheld, withheld_n, withheld_capacity) = fh_xstrdup(name);
	}
	FH_PUSH(list, n, capacity) = NULL;
	FH_PUSH(withheld, withheld_n, withheld_capacity) = NULL;
	*ret = (struct fh_script_environment){ list, withheld };
}

void fh_script_environment_release(struct fh_script_environment *e)
{
	char **const lists[] = { e->list, e->withheld };
	for (size_t l = 0; l < FH_ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; lists[l] && lists[l][i]; i++)
			free(lists[l][i]);
		free(lists[l]);
	}
	*e = (struct fh_script_environment){ 0 };
}

static bool fh_script_environment_names(const char *const *list, const char *variable)
{
	size_t n = strcspn(variable, "=") + 1;
	for (size_t i = 0; list && list[i]; i++)
		if (strncmp(list[i], variable, n) == 0)
			return true;
	return false;
}

const char **fh_script_environment_with(const struct fh_script_environment *e, const char *const *more)
{
	const char **all = NULL;
	size_t n = 0, capacity = 0;
	for (size_t i = 0; more && more[i]; i++)
		FH_PUSH(all, n, capacity) = more[i];
	for (size_t i = 0; e->list[i]; i++)
		if (!fh_script_environment_names(more, e->list[i]))
			FH_PUSH(all, n, capacity) = e->list[i];
	FH_PUSH(all, n, capacity) = NULL;
	return all;
}

const char *fh_script_environment_missed(const struct fh_script_environment *e, const char *text)
{
	for (size_t i = 0; text && e->withheld[i]; i++)
		if (strstr(text, e->withheld[i]))
			return e->withheld[i];
	return NULL;
}
