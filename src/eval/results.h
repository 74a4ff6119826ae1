/* SPDX-License-Identifier: MIT */
/* What came of an eval: one result for each cell of the plan, in the plan's order, and the sums over them. */
#pragma once
#include "eval/plan.h"

enum fh_failure { FH_FAILURE_NONE, FH_FAILURE_ASSERTION, FH_FAILURE_ERROR };

struct fh_eval_result {
	bool done; /* false: the eval was interrupted before this cell */
	bool success;
	enum fh_failure failure;
	double score;
	char *error;           /* why it is not a success; NULL otherwise; untrusted text */
	char *prompt;          /* rendered; "" when that failed */
	json_t *test;          /* the test that beforeEach gave; NULL: the row's own */
	json_t *prompt_config; /* NULL: none */
	json_t *response;      /* {output, cost, cached, tokenUsage …}, or NULL when the row is an error */
	json_t *grading;       /* {pass, score, reason, componentResults …}, or NULL */
	json_t *named_scores;  /* of the assertions, without what columns compared; NULL: none */
	json_t *metadata;      /* the test's and the response's */
	double latency_ms, cost;
	struct fh_tokens tokens;
};

struct fh_eval_results {
	struct fh_eval_result *items; /* plan->cell_count of them */
	size_t count;
	size_t successes, failures, errors; /* of those that are done */
	char *no_tokens[2]; /* fh_eval_tokens_json of nothing, for 0 and 1 requests, as text: what most rows say */
	json_t *metrics;    /* array: for each column its `metrics` object */
	struct fh_tokens tokens;
	uint64_t requests; /* provider calls that were answered */
	uint64_t duration_ms;
	int64_t started_wall_ms;
	bool interrupted;
	struct fh_error hook_error; /* of afterAll; code FH_OK: none */
	char id[64];                /* eval-abc-2026-11-21T09:28:07 */
};

/* Sums up: counts, metrics of the columns, derived metrics of the config. */
int fh_eval_results_sum(const struct fh_eval_plan *plan, struct fh_eval_results *r, struct fh_error *err);
void fh_eval_results_release(struct fh_eval_results *r);
void fh_eval_result_release(struct fh_eval_result *r);

/* {prompt, completion, cached, total, numRequests, completionDetails, assertions}. New reference. */
FH_OWN json_t *fh_eval_tokens_json(const struct fh_tokens *t, uint64_t requests);
