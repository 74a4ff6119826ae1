/* SPDX-License-Identifier: MIT */
/* Functions that are private to the loading of configs (config.h), by file. */
#pragma once
#include "eval/config/config.h"

/* ---- config_script.c: configs in JavaScript ---- */

/* Whether a path ends as a script does: .js, .cjs, .mjs, .ts, .cts, .mts. */
bool fh_eval_config_is_script(const char *path);
/* Runs the module at `path` and gives its default export as a document; functions in it become
 * "file://PATH:NAME.NAME". */
int fh_eval_config_run(const char *path, struct fh_script_pool *scripts, struct fh_document **ret,
                       struct fh_error *err);

/* ---- config_join.c: several files of -c ---- */

/* All parts joined into one config. New reference. */
FH_OWN json_t *fh_eval_config_join(const struct fh_eval_config *c);

/* ---- config_refs.c: $ref ---- */

/* Puts in the place of each {$ref: "#/PATH"} or {$ref: "FILE#/PATH"} of the document what it points to; FILE is a YAML
 * or JSON file, relative to the file that names it. Other keys beside $ref are added, and win. A $ref with a scheme
 * ("https://…"), as schemas have them, stays as it is: nothing is fetched. */
int fh_eval_config_resolve(struct fh_document *d, struct fh_error *err);

/* ---- config_paths.c ---- */

/* As fh_eval_config_paths, with patterns relative to any folder. */
int fh_eval_glob(const char *dir, const char *pattern, struct fh_eval_paths *ret, struct fh_error *err);
