/* SPDX-License-Identifier: MIT */
/*
 * What came of an eval. While a cell is worked on, all that is known of it is a struct fh_eval_result, its evidence.
 * When it is done, that becomes a row (a line of JSON), is counted into the sums and released: what stays in memory of
 * a cell is a mark.
 */
#pragma once
#include "eval/plan.h"
#include "eval/rows.h"

enum fh_failure { FH_FAILURE_NONE, FH_FAILURE_ASSERTION, FH_FAILURE_ERROR };

struct fh_eval_result {
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

/* Gives all that the result has back. */
void fh_eval_result_release(struct fh_eval_result *r);
/* A row read back: what a result says, but for the test and the prompt's config. */
void fh_eval_result_of_row(const json_t *row, struct fh_eval_result *ret);

struct fh_eval_mark {
	bool done; /* false: the eval was interrupted before this cell */
	bool success;
	unsigned char failure; /* enum fh_failure */
};

/* Why tests did not pass: equal reasons (their first lines) are one. */
struct fh_eval_reason {
	char *text;
	size_t count, first; /* how often; the first cell */
	bool error;
};

struct fh_eval_sums;

struct fh_eval_results {
	struct fh_eval_mark *marks; /* plan->cell_count of them, in the plan's order */
	size_t count, done;
	struct fh_eval_rows *rows;
	struct fh_eval_sums *sums;          /* of each column, until finish makes metrics of them */
	size_t successes, failures, errors; /* of those that are done */
	struct fh_eval_reason *reasons;     /* finish sorts them, the most frequent first */
	size_t reason_count, reason_capacity;
	size_t reasons_left_out; /* of cells: more different ones than are kept */
	json_t *reason_index;
	char *no_tokens[2]; /* fh_eval_tokens_json of nothing, for 0 and 1 requests, as text: what most rows say */
	json_t *metrics;    /* array: for each column its `metrics` object */
	struct fh_tokens tokens;
	double cost;
	uint64_t requests; /* provider calls that were answered */
	uint64_t duration_ms;
	int64_t started_wall_ms;
	bool interrupted;
	struct fh_error hook_error; /* of afterAll; code FH_OK: none */
	struct fh_error sink_error; /* rows could not be kept; code FH_OK: none */
	char id[64];                /* eval-abc-2026-11-21T09:28:07 */
};

/* begin ─▶ add for each cell, in any order, one thread at a time ─▶ finish */
void fh_eval_results_begin(const struct fh_eval_plan *plan, struct fh_eval_results *r);
/* Counts the result of `cell` and keeps its row. */
void fh_eval_results_add(const struct fh_eval_plan *plan, struct fh_eval_results *r, size_t cell,
                         const struct fh_eval_result *result, struct fh_str row);
/* Metrics of the columns, derived metrics of the config, reasons in order. */
int fh_eval_results_finish(const struct fh_eval_plan *plan, struct fh_eval_results *r, struct fh_error *err);
void fh_eval_results_release(struct fh_eval_results *r);
/* What came of a cell, read back from its row; false when it is not done. Release it. */
bool fh_eval_results_read(struct fh_eval_results *r, size_t cell, struct fh_eval_result *ret);

/* {prompt, completion, cached, total, numRequests, completionDetails, assertions}. New reference. */
FH_OWN json_t *fh_eval_tokens_json(const struct fh_tokens *t, uint64_t requests);
