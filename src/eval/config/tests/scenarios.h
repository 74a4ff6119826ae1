/* SPDX-License-Identifier: MIT */
/*
 * `scenarios: [{config: [PARTIAL TEST …], tests: [TEST …]}]`: every entry of `config` is joined with every test. Where
 * both (or defaultTest) set a variable, an option or metadata, the test's value wins; assertions are concatenated.
 * The tests of one `config` entry share a conversation, unless their metadata names another one.
 */
#pragma once
#include "eval/config/tests/filter.h"

/* Appends the tests of the config's scenarios to `tests`, after `filter` was applied to each scenario's own. *ret_any:
 * the config has scenarios. */
int fh_eval_scenarios_load(struct fh_eval_config *c, FH_NULLABLE const json_t *default_test,
                           const struct fh_eval_filter *filter, struct fh_script_pool *scripts,
                           struct fh_eval_tests *tests, bool *ret_any, struct fh_error *err);
