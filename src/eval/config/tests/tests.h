/* SPDX-License-Identifier: MIT */
/*
 * The test cases of a config: written in it, read from files (YAML, JSON, JSONL, CSV) or made by a script; their shape
 * is checked, filters are applied, and defaultTest is merged in.
 */
#pragma once
#include "eval/config/config.h"

struct fh_script_pool;

struct fh_eval_test {
	json_t *json;                       /* object, as read; NULL once the plan has its rows and no hook asks for it */
	const struct fh_document *document; /* the document that holds the test; owned by the config */
	char *place;
};
struct fh_eval_tests {
	struct fh_eval_test *items;
	size_t count, capacity;
};

#define FH_EVAL_TESTS_MAX 1000000

/* Appends the tests that `spec`, at `place` of d, stands for: tests, names of files, {path, config}. `scripts` runs .py
 * and .js files that make tests. On failure the tests appended so far stay. */
int fh_eval_tests_load(struct fh_eval_config *c, const struct fh_document *d, FH_NULLABLE const json_t *spec,
                       const char *place, struct fh_script_pool *scripts, struct fh_eval_tests *ret,
                       struct fh_error *err);
/* Appends one test unchanged; takes over `test`. */
void fh_eval_tests_add(struct fh_eval_tests *t, const struct fh_document *d, FH_OWN json_t *test, const char *place);
/* Replaces all tests by those that a hook returned: `list` becomes a document of the config with the name `source`. */
int fh_eval_tests_replace(struct fh_eval_config *c, const json_t *list, const char *source,
                          struct fh_script_pool *scripts, struct fh_eval_tests *tests, struct fh_error *err);
void fh_eval_tests_release(struct fh_eval_tests *t);

/* Checks defaultTest or a test: the shapes of vars, assert, threshold, options …, and the assertion types. */
int fh_eval_test_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                          struct fh_error *err);

/* Checks a list of assertions from outside of a test (--assertions). */
int fh_eval_assertions_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                                const char *place, struct fh_error *err);
/* Loads the files (globs) that `vars` of a test or of defaultTest names; later files override variables of earlier
 * ones. *ret is the test itself, or a copy that holds its variables. */
int fh_eval_test_load_vars(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                           json_t **ret, struct fh_error *err);

/* Merges a test over `default_test`, with `cli_vars` between the two (both may be NULL): vars, assert (default's
 * first), options, metadata, and the single values. New reference. */
FH_OWN json_t *fh_eval_test_merge(const json_t *test, FH_NULLABLE const json_t *default_test,
                                  FH_NULLABLE const json_t *cli_vars);
