/* SPDX-License-Identifier: MIT */
/* Environment variables: .env files, and the `env` of templates. */
#pragma once
#include "json/json.h"

/* Sets this process's environment from the file's NAME=VALUE lines; variables that are set already keep their value.
 * The syntax: comments, blank lines, `export `, 'single' and "double" quotes (with \n, \t, \" and \\ in double ones); a
 * # after white space ends an unquoted value. Call it before any thread is started. Any other line is FH_E_CONFIG with
 * file and line. */
int fh_env_file_load(const char *path, struct fh_error *err);

/* Whether an environment variable is on, in the words that promptfoo reads: 1, true, yes, yup, yeppers. */
bool fh_env_on(const char *name);

/* The process's environment as an object, overlaid with `overlay` (strings, numbers, booleans; may be NULL). */
FH_OWN json_t *fh_env_object(FH_NULLABLE const json_t *overlay);
/* Sets the members of `overlay` in env. */
void fh_eval_env_add(json_t *env, FH_NULLABLE const json_t *overlay);
