/* SPDX-License-Identifier: MIT */
/*
 * The results of an eval.
 *
 * While a cell is worked on, its whole state is a struct fh_eval_result. When it is finished, that becomes a row (a
 * line of JSON), is counted into the sums and released; what stays in memory for each cell is a struct fh_eval_mark.
 */
#pragma once
#include "eval/plan/plan.h"
#include "eval/results/rows.h"
#include "sink/row.h"

struct fh_eval_result {
	bool success;
	enum fh_failure failure;
	double score;
	char *hook_problem;    /* why afterEach failed, which left the row as it was; NULL: it did not */
	char *error;           /* why it did not pass; NULL when it did; untrusted text */
	char *prompt;          /* rendered; "" when rendering failed */
	json_t *test;          /* the test that beforeEach returned; NULL: the row's own test */
	json_t *prompt_config; /* NULL: the prompt has no config */
	json_t *response;      /* {output, cost, cached, tokenUsage …}, or NULL when the row is an error */
	json_t *grading;       /* {pass, score, reason, componentResults …}, or NULL */
	json_t *named_scores;  /* named scores of the assertions, without those of comparing ones; NULL: no scores */
	json_t *metadata;      /* metadata of the test and of the response */
	bool asked;            /* a provider was: the test had no answer of its own */
	double latency_ms, cost;
	struct fh_tokens tokens;
};

/* Frees all that the result owns. */
void fh_eval_result_release(struct fh_eval_result *r);
/* Restores a result from its row, without the members test and prompt_config. */
void fh_eval_result_of_row(const json_t *row, struct fh_eval_result *ret);

struct fh_eval_mark {
	bool done; /* false: the eval was interrupted before this cell */
	bool success;
	unsigned char failure; /* enum fh_failure */
};

/* A reason why tests did not pass; reasons with the same first line are counted as one. */
struct fh_eval_reason {
	char *text;
	size_t count, first; /* how many cells; the first of them */
	bool error;
};

/* What graders used. */
struct fh_eval_graded {
	int64_t total, prompt, completion, cached, requests;
};
/* Reads it from a row's gradingResult; NULL: nothing was used. */
struct fh_eval_graded fh_eval_graded_of(FH_NULLABLE const json_t *grading);

struct fh_eval_sums;

struct fh_eval_results {
	struct fh_eval_mark *marks; /* plan->cell_count of them, in the plan's order */
	size_t count, done;
	struct fh_eval_rows *rows;
	struct fh_eval_sums *sums;          /* sums for each column; fh_eval_results_finish makes metrics of them */
	size_t successes, failures, errors; /* counts of the finished cells */
	struct fh_eval_reason *reasons;     /* fh_eval_results_finish sorts them, the most frequent first */
	size_t reason_count, reason_capacity;
	size_t reasons_left_out; /* cells whose reason was not kept, because there were too many different ones */
	json_t *reason_index;
	char *no_tokens[2]; /* text of fh_eval_tokens_json for zero tokens and 0 or 1 requests, as most rows have */
	json_t *metrics;    /* array: for each column its `metrics` object */
	json_t *hook_vars;  /* array: names of variables that beforeEach hooks added, or NULL */
	struct fh_tokens tokens;
	struct fh_eval_graded graded;
	double cost;
	uint64_t requests; /* provider calls that were answered */
	uint64_t duration_ms;
	int64_t started_wall_ms;
	bool interrupted;
	char *hook_problem;         /* the first problem of afterEach, or NULL */
	size_t hook_problems;       /* number of rows for which afterEach failed */
	char *derived_problem;      /* why the first derived metric that could not be computed is 0, or NULL */
	struct fh_error hook_error; /* error of the afterAll hook; code FH_OK: no error */
	struct fh_error sink_error; /* why rows could not be stored; code FH_OK: no error */
	char id[64];                /* eval-abc-2026-11-21T09:28:07 */
};

/* begin ─▶ add for each cell, in any order, one thread at a time ─▶ finish */
void fh_eval_results_begin(const struct fh_eval_plan *plan, struct fh_eval_results *r);
/* Counts the result of `cell` and stores its row. */
void fh_eval_results_add(const struct fh_eval_plan *plan, struct fh_eval_results *r, size_t cell,
                         const struct fh_eval_result *result, struct fh_str row);
/* Computes the columns' metrics and the config's derived metrics, and sorts the reasons. */
int fh_eval_results_finish(const struct fh_eval_plan *plan, struct fh_eval_results *r, struct fh_error *err);
void fh_eval_results_release(struct fh_eval_results *r);
/* Restores the result of a cell from its row; false when the cell is not finished. Release *ret. */
bool fh_eval_results_read(struct fh_eval_results *r, size_t cell, struct fh_eval_result *ret);

/* {prompt, completion, cached, total, numRequests, completionDetails, assertions}. New reference. */
FH_OWN json_t *fh_eval_tokens_json(const struct fh_tokens *t, uint64_t requests,
                                   FH_NULLABLE const struct fh_eval_graded *graded);
