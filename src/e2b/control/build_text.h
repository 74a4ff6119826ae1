/* SPDX-License-Identifier: MIT */
/* The texts of a build's steps, in which Dockerfiles and E2B's builders allow variables. */
#pragma once
#include "base/base.h"

/* Replaces $NAME, ${NAME} and ${NAME:-text} by the values in `env` ("NAME=value" strings that end with NULL), an unset
 * one by nothing. "\$" stands for a dollar sign; one that no name follows stays. NULL: the result is longer than a
 * variable can be, since a text may name itself twice in each of many steps. */
FH_NULLABLE FH_OWN char *fh_build_expand(const char *text, const char *const *env);
