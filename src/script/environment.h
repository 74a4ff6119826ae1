/* SPDX-License-Identifier: MIT */
/*
 * The environment that the user's own code sees: ours, without variables whose names suggest secrets
 * (base/text/secret.h), since a script has no use for the keys of other providers. Secrets that the user or a
 * provider's config grants by name stay, and the key of an E2B server of the user's own.
 */
#pragma once
#include "base/base.h"
#include "json/json.h"

struct fh_script_environment {
	char **list;     /* variables as "NAME=VALUE", NULL-terminated */
	char **withheld; /* names of the secrets that were left out, NULL-terminated */
};

/* Our environment overlaid with the members of `env` (strings); secrets stay only if a pattern of `handed_over` (of
 * fnmatch(3), NULL-terminated; NULL: none) matches their name. */
void fh_script_environment_make(struct fh_script_environment *ret, FH_NULLABLE const json_t *env,
                                FH_NULLABLE const char *const *handed_over);
void fh_script_environment_release(struct fh_script_environment *e);
/* The list with `more` ("NAME=VALUE", NULL-terminated) put before it, which overrides it. free() the result, not its
 * strings. */
FH_OWN const char **fh_script_environment_with(const struct fh_script_environment *e,
                                               FH_NULLABLE const char *const *more);
/* The first withheld name that occurs in the text, such as an error message; NULL when none does. */
FH_NULLABLE const char *fh_script_environment_missed(const struct fh_script_environment *e, const char *text);
