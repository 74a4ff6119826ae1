/* SPDX-License-Identifier: MIT */
/*
 * Hooks: functions of the user's that are called during an eval: `extensions: [file://x.py:fn,
 * file://x.js:beforeEach]`.
 *
 * A function with a hook's name is called for that hook only, as fn(context, {hookName}); any other function is called
 * for every hook, as fn(hookName, context). What it returns replaces the context for the next function; if it returns
 * nothing, the context stays the same, with what a JavaScript function changed in it. The contexts, and what a function
 * may change:
 *
 *     beforeAll   {suite}          prompts, tests, scenarios, defaultTest, derivedMetrics
 *     beforeEach  {test}           test, for this cell
 *     afterEach   {test, result}   adds namedScores, metadata, response.metadata
 *     afterAll    {suite, results, prompts, evalId, config}
 *
 * plan.h's fh_eval_plan_before_all applies what a beforeAll changed.
 */
#pragma once
#include "eval/config/config.h"
#include "script/script.h"

enum fh_hook { FH_HOOK_BEFORE_ALL, FH_HOOK_BEFORE_EACH, FH_HOOK_AFTER_EACH, FH_HOOK_AFTER_ALL, FH_HOOK_COUNT_ };

struct fh_eval_extension {
	char *file, *function; /* function NULL: the file's default export */
	enum fh_script_language language;
	enum fh_hook only; /* FH_HOOK_COUNT_: called for every hook */
};
struct fh_eval_extensions {
	struct fh_eval_extension *items;
	size_t count, capacity;
};

/* Loads the extensions of `first` (the command line's list), then the config's "extensions". */
int fh_eval_extensions_load(const struct fh_eval_config *c, FH_NULLABLE const json_t *first,
                            struct fh_eval_extensions *ret, struct fh_error *err);
void fh_eval_extensions_release(struct fh_eval_extensions *x);

/* Whether any extension is called for the hook; if not, the caller need not build the context. */
bool fh_eval_extensions_want(const struct fh_eval_extensions *x, enum fh_hook hook);
/* Calls the extensions in order. *ret is the context that the last one left (a new reference, an object). */
int fh_eval_extensions_call(const struct fh_eval_extensions *x, struct fh_script_pool *scripts, enum fh_hook hook,
                            const json_t *context, json_t **ret, struct fh_error *err);
