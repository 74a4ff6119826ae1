/* SPDX-License-Identifier: MIT */
/*
 * What an eval is to do, as plain data: columns (each provider with each prompt), rows (each test, repeated, with each
 * combination of its list-valued variables), and the cells where a row meets a column.
 *
 * The order is fixed: columns provider by provider; rows test by test, then repeat by repeat, then combination by
 * combination (the first variable varies slowest); cells row by row. Results have this order, whichever cell
 * finishes first. Cells are run in another order: tests that have to run alone (runSerially) first, then all others.
 */
#pragma once
#include "eval/config/tests/scenarios.h"
#include "eval/config/prompts.h"
#include "eval/config/providers.h"
#include "eval/plan/extensions.h"

#define FH_EVAL_CELLS_MAX 10000000

struct fh_eval_column {
	const struct fh_eval_prompt *prompt;
	struct fh_eval_provider *provider;
};

struct fh_eval_row {
	json_t *test;    /* the merged test case, with the variables of this combination */
	json_t *fault;   /* text: why there is nothing to ask, such as a transformVars that failed; or NULL */
	uint32_t repeat; /* number of the repeat, from 0 */
	uint32_t task;   /* number of the test with this combination: the same in every repeat */
	bool serial;     /* runs alone, before the tests that may run concurrently */
	const struct fh_document *document; /* where the test was written, for messages */
	const char *place;
	struct fh_eval_provider *provider; /* the test's own provider, which replaces the column's; NULL: the column's */
};

struct fh_eval_cell {
	uint32_t row, column;
};

struct fh_eval_plan {
	struct fh_eval_config config;
	struct fh_eval_prompts prompts;
	struct fh_eval_providers providers;
	struct fh_eval_tests tests;
	struct fh_eval_scenarios scenarios; /* released once their tests are in `tests` */
	struct fh_eval_extensions extensions;
	json_t *suite;   /* fh_eval_plan_suite() for afterAll, with the tests of scenarios too; NULL: no such hook */
	json_t *derived; /* derivedMetrics; NULL: none */
	struct fh_eval_provider_needs needs; /* for providers that are opened later (graders) */
	json_t *default_test;                /* object or NULL */
	json_t *filters;                     /* nunjucksFilters: name -> absolute path; NULL: no filters */
	json_t *stored;    /* object whose names are those of storeOutputAs, or NULL: these variables are no templates */
	bool conversation; /* a prompt uses _conversation: cells run one after another */
	size_t provider_columns; /* count of the config's providers; those behind them belong to single tests */
	struct fh_eval_column *columns;
	size_t column_count, column_capacity;
	struct fh_eval_row *rows;
	size_t row_count, row_capacity;
	size_t task_count; /* how many different values rows[].task has */
	struct fh_eval_cell *cells;
	size_t cell_count, cell_capacity;
	char **vars; /* names of all variables, in order of first appearance */
	size_t var_count, var_capacity;
	char *prompt_prefix, *prompt_suffix; /* text around every prompt; "" when not given */
	unsigned concurrency;                /* maximum of cells that run at once */
	uint64_t time_ms;                    /* time limit of the eval; cells not begun by then are errors; 0: no limit */
	uint64_t delay_ms;                   /* pause before each provider call; > 0 makes concurrency 1 */
	uint32_t repeat;
};

/* Settings of the command line that override the config's; all borrowed; zero or NULL where not given. */
struct fh_eval_overrides {
	FH_NULLABLE const json_t *prompts, *providers, *tests; /* lists that replace the config's */
	FH_NULLABLE const json_t *vars;                        /* object: overrides defaultTest's, not each test's */
	FH_NULLABLE const char *prompt_prefix, *prompt_suffix;
	FH_NULLABLE const json_t *assertions,
	    *model_outputs; /* lists: each output becomes a test with all the assertions */
	FH_NULLABLE const struct fh_document *assertions_document; /* where the assertions were written, for messages */
	FH_NULLABLE const char *grader;                            /* provider for model-graded assertions */
	FH_NULLABLE const json_t *extensions;                      /* list; called before the config's */
	FH_NULLABLE const char *base_dir; /* base of relative paths in prompts, providers and tests of the command line */
	FH_NULLABLE const char *filter_providers, *filter_prompts; /* regular expressions over ids and labels */
	struct fh_eval_filter filter;
	uint64_t concurrency, repeat; /* 0: not given */
	uint64_t delay_ms;            /* pause before each provider call; UINT64_MAX: not given */
};

/* Cells at once where neither command line nor config says how many. */
enum { FH_EVAL_CONCURRENCY_DEFAULT = 4 };

/* Takes over `config` (fh_eval_plan_release releases it), even on failure. */
int fh_eval_plan_make(struct fh_eval_config *config, const struct fh_eval_overrides *o,
                      const struct fh_eval_provider_needs *needs, struct fh_eval_plan *ret, struct fh_error *err);
void fh_eval_plan_release(struct fh_eval_plan *p);

/* suite.c: prompts, providers, tests, scenarios, defaultTest, derivedMetrics …, in the form that hooks get. New
 * reference. */
FH_OWN json_t *fh_eval_plan_suite(const struct fh_eval_plan *p);
/* Calls the beforeAll hooks. All of the suite but the providers may be replaced, and is checked like the config's. */
int fh_eval_plan_before_all(struct fh_eval_plan *p, struct fh_script_pool *scripts, struct fh_error *err);

/* Calls a derived metric that is a function of a config in JavaScript, as function(namedScores, {}): the fh_derive_call
 * (eval/grading/derived.h) whose context is the plan. */
int fh_eval_plan_call_derived(const void *plan, const char *reference, const json_t *names, double *ret,
                              struct fh_error *err);

/* plan_columns.c: fills the columns from the plan's providers and prompts. No column at all is an error. */
int fh_eval_plan_columns(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_error *err);
/* Whether a test has an assertion that compares the columns of its row, and so needs all of them: select-best or
 * max-score (eval/compare_columns.h). */
bool fh_eval_compares_columns(const json_t *test);

/* All combinations of list-valued variables (lists whose first element is a string), as an array of objects; the first
 * variable varies slowest. A "file://dir/GLOB" string gives one value for each file. Where nothing is to be combined,
 * the one object is `vars` itself. New reference; an error when there are more than FH_EVAL_CELLS_MAX combinations. */
int fh_eval_vars_expand(const struct fh_eval_config *c, json_t *vars, json_t **ret, struct fh_error *err);
