/* SPDX-License-Identifier: MIT */
/*
 * `scenarios: [{config: [PARTIAL TEST …], tests: [TEST …]}]`: every entry of `config` joined with every test. Of the
 * two (and of defaultTest below both) the test's own variables, options and metadata win; assertions stand one behind
 * the other. The tests of one `config` entry share a conversation, unless their metadata names another.
 */
#pragma once
#include "eval/config/filter.h"

/* Appends to `tests` those of the config's scenarios, after `filter` chose among each scenario's own. *ret_any is
 * whether there is a list of scenarios at all. */
int fh_eval_scenarios_load(struct fh_eval_config *c, FH_NULLABLE const json_t *default_test,
                           const struct fh_eval_filter *filter, struct fh_script_pool *scripts,
                           struct fh_eval_tests *tests, bool *ret_any, struct fh_error *err);
