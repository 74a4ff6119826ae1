/* SPDX-License-Identifier: MIT */
/* Environment variables: .env files, and the `env` of templates. */
#pragma once
#include "json/json.h"

/* Sets this process's environment from the file's NAME=VALUE lines. `over`: also variables that are set already. The
 * syntax: comments, blank lines, `export `, 'single' and "double" quotes (with \n, \t, \" and \\ in double ones); a #
 * after white space ends an unquoted value. Call it before any thread is started. Any other line is FH_E_CONFIG with
 * file and line. */
int fh_env_file_load(const char *path, bool over, struct fh_error *err);
/* The files of --env-file, each word several with commas between them: what is in one wins over the environment and
 * over the files before it. Without any: .env, if it is there, which wins over nothing. */
int fh_env_files_load(const char *const *words, size_t count, struct fh_error *err);

/* Fails for a variable of promptfoo's that is set and would change what an eval does, but has no effect here. */
int fh_env_check(struct fh_error *err);
/* The whole number that an environment variable holds; 0 when it is not set. */
int fh_env_number(const char *name, uint64_t max, uint64_t *ret, struct fh_error *err);

/* Whether an environment variable is on, in the words that promptfoo reads: 1, true, yes, yup, yeppers. */
bool fh_env_on(const char *name);

/* The process's environment as an object, overlaid with `overlay` (strings, numbers, booleans; may be NULL). */
FH_OWN json_t *fh_env_object(FH_NULLABLE const json_t *overlay);
/* Sets the members of `overlay` in env. */
void fh_eval_env_add(json_t *env, FH_NULLABLE const json_t *overlay);
