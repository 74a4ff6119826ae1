/* SPDX-License-Identifier: MIT */
/*
 * The test cases of a config: written in it, in files (YAML, JSON, JSONL, CSV) or made by a script; checked for shape;
 * filtered; joined with defaultTest.
 */
#pragma once
#include "eval/config/config.h"

struct fh_script_pool;

struct fh_eval_test {
	json_t *json;                       /* object, as it was read */
	const struct fh_document *document; /* where; owned by the config */
	char *place;
};
struct fh_eval_tests {
	struct fh_eval_test *items;
	size_t count, capacity;
};

#define FH_EVAL_TESTS_MAX 1000000

/* Appends what `spec`, which stands at `place` of d, says: tests, files of them, {path, config}. `scripts` runs .py and
 * .js files that make tests. On failure what was appended stays. */
int fh_eval_tests_load(struct fh_eval_config *c, const struct fh_document *d, FH_NULLABLE const json_t *spec,
                       const char *place, struct fh_script_pool *scripts, struct fh_eval_tests *ret,
                       struct fh_error *err);
/* Appends one test as it is; takes over `test`. */
void fh_eval_tests_add(struct fh_eval_tests *t, const struct fh_document *d, FH_OWN json_t *test, const char *place);
/* The tests that a hook gave in place of those: `list` becomes a document of the config under the name `source`. */
int fh_eval_tests_replace(struct fh_eval_config *c, const json_t *list, const char *source,
                          struct fh_script_pool *scripts, struct fh_eval_tests *tests, struct fh_error *err);
void fh_eval_tests_release(struct fh_eval_tests *t);

/* Checks defaultTest or a test: what vars, assert, threshold, options … may be, and the assertion types. */
int fh_eval_test_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                          struct fh_error *err);

/* Checks a list of assertions that belongs to no test (--assertions). */
int fh_eval_assertions_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                                const char *place, struct fh_error *err);
/* `vars` of a test or of defaultTest: when they name files (globs), the maps in them, laid over each other. *ret is the
 * test itself, or a copy with its vars in place. */
int fh_eval_test_load_vars(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                           json_t **ret, struct fh_error *err);

/* test over `default_test` (may be NULL), `cli_vars` (may be NULL) between the two: vars, assert (default's first),
 * options, metadata, and the single values. New reference. */
FH_OWN json_t *fh_eval_test_merge(const json_t *test, FH_NULLABLE const json_t *default_test,
                                  FH_NULLABLE const json_t *cli_vars);
