/* SPDX-License-Identifier: MIT */
/* Parts of config.h's work that have files of their own. */
#pragma once
#include "eval/config/config.h"

/* ---- config_script.c: configs in JavaScript ---- */

/* By its name: .js, .cjs, .mjs, .ts, .cts, .mts. */
bool fh_eval_config_is_script(const char *path);
/* What the module at `path` exports by default, as a document; its functions become "file://PATH:NAME.NAME". */
int fh_eval_config_run(const char *path, struct fh_script_pool *scripts, struct fh_document **ret,
                       struct fh_error *err);

/* ---- config_join.c: several files of -c ---- */

/* The values of all parts as one. New reference. */
FH_OWN json_t *fh_eval_config_join(const struct fh_eval_config *c);

/* ---- config_paths.c ---- */

/* As fh_eval_config_paths, from any folder. */
int fh_eval_glob(const char *dir, const char *pattern, struct fh_eval_paths *ret, struct fh_error *err);
