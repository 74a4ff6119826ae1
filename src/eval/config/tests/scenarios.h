/* SPDX-License-Identifier: MIT */
/*
 * `scenarios: [{config: [PARTIAL TEST …], tests: [TEST …]}]`: every entry of `config` is joined with every test. Where
 * both (or defaultTest) set a variable, an option or metadata, the test's value wins; assertions are concatenated.
 * The tests of one `config` entry share a conversation, unless their metadata names another one.
 */
#pragma once
#include "eval/config/tests/filter.h"

struct fh_eval_scenario {
	json_t *json;   /* what else it says: description */
	json_t *config; /* array of partial tests */
	struct fh_eval_tests tests;
	const struct fh_document *document; /* owned by the config */
	char *place;                        /* of `config` in the document */
};
struct fh_eval_scenarios {
	struct fh_eval_scenario *items;
	size_t count, capacity;
	bool any; /* the config has the key */
};

/* Loads the config's scenarios; `filter` is applied to each one's tests. */
int fh_eval_scenarios_load(struct fh_eval_config *c, FH_NULLABLE const json_t *default_test,
                           const struct fh_eval_filter *filter, struct fh_script_pool *scripts,
                           struct fh_eval_scenarios *ret, struct fh_error *err);
/* The scenarios as hooks get them: [{description, config, tests}]. New reference. */
FH_OWN json_t *fh_eval_scenarios_json(const struct fh_eval_scenarios *s);
/* Replaces all scenarios by those that a hook returned. */
int fh_eval_scenarios_replace(struct fh_eval_config *c, const json_t *list, struct fh_script_pool *scripts,
                              struct fh_eval_scenarios *s, struct fh_error *err);
/* Appends to `tests` what the scenarios stand for: each entry of `config` with each test. */
int fh_eval_scenarios_join(const struct fh_eval_scenarios *s, FH_NULLABLE const json_t *default_test,
                           struct fh_eval_tests *tests, struct fh_error *err);
void fh_eval_scenarios_release(struct fh_eval_scenarios *s);
