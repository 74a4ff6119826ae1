/* SPDX-License-Identifier: MIT */
/* Environment variables: .env files, and the `env` of templates. */
#pragma once
#include "json/json.h"

/* Puts the file's NAME=VALUE lines into this process's environment; names that are set already stay. Taken: comments,
 * blank lines, `export `, 'single' and "double" quotes (\n, \t, \" and \\ in the latter), and a # after white space
 * ends an unquoted value. To be called before any thread is started. A line that is none of these: FH_E_CONFIG with
 * file and line. */
int fh_env_file_load(const char *path, struct fh_error *err);

/* The process's environment as an object, `overlay` (may be NULL; strings, numbers, booleans) on top. */
FH_OWN json_t *fh_env_object(FH_NULLABLE const json_t *overlay);
/* Lays `overlay`'s members over env's. */
void fh_eval_env_add(json_t *env, FH_NULLABLE const json_t *overlay);
