/* SPDX-License-Identifier: MIT */
/* The lists by which tests and providers select prompts and providers: `prompts: […]`, `providers: […]`. */
#pragma once
#include "eval/config/prompts.h"
#include "eval/config/providers.h"
#include "eval/config/tests/tests.h"

/* Whether the list selects what has this id and label; without a list everything is selected. An entry is a label, an
 * id, "prefix*", or "Group" for labels that begin with "Group:". */
bool fh_eval_selection_has(FH_NULLABLE const json_t *list, const char *id, const char *label);
/* The same for a provider, by promptfoo's name for it or by the id in the config. */
bool fh_eval_selection_has_provider(FH_NULLABLE const json_t *list, const struct fh_eval_provider *provider);

/* Fails with FH_E_CONFIG at the test's place when an entry of its lists selects nothing: the test would not run,
 * unnoticed. `test` is merged with defaultTest; of `providers` the first `count` are those of the config. */
int fh_eval_selection_check(const struct fh_eval_test *t, const json_t *test, const struct fh_eval_prompts *prompts,
                            const struct fh_eval_providers *providers, size_t count, struct fh_error *err);
