/* SPDX-License-Identifier: MIT */
/*
 * What the user's own code sees of our environment: all of it but the variables whose names stand for secrets
 * (base/secret.h), as a script has no business with the keys of providers that it is not named for. Names that are
 * handed over, by the user or for one provider, stay.
 */
#pragma once
#include "base/base.h"
#include "json/json.h"

struct fh_script_environment {
	char **list;     /* "NAME=VALUE", NULL-terminated */
	char **withheld; /* names, NULL-terminated */
};

/* Our environment with the members of `env` (strings) over it, without the secrets that no pattern of `handed_over`
 * (NULL-terminated, as of fnmatch(3); NULL: none) fits. */
void fh_script_environment_make(struct fh_script_environment *ret, FH_NULLABLE const json_t *env,
                                FH_NULLABLE const char *const *handed_over);
void fh_script_environment_release(struct fh_script_environment *e);
/* A copy of the list with `more` ("NAME=VALUE", NULL-terminated) in front, which win. free() it, not its strings. */
FH_OWN const char **fh_script_environment_with(const struct fh_script_environment *e,
                                               FH_NULLABLE const char *const *more);
/* The first withheld name that occurs in the text; NULL when none does: then the text is not about them. */
FH_NULLABLE const char *fh_script_environment_missed(const struct fh_script_environment *e, const char *text);
