/* SPDX-License-Identifier: MIT */
/*
 * Combines the results of single assertions into the result of a row: weights, thresholds, named scores.
 *
 *     score_init ─▶ score_add for each assertion, in order ─▶ score_finish
 *
 * The score is the weighted mean of the parts. A row passes when no part failed, or, with a threshold, when the
 * score reaches it. Each named score is a weighted mean too.
 */
#pragma once
#include "json/json.h"

struct fh_score {
	bool has_threshold;
	double threshold;
	double total, weight;
	bool blocked;         /* a guardrail that is the purpose of a red-team test took effect: the row passes */
	char *failed;         /* reason of the last part that failed; NULL: no part failed */
	json_t *components;   /* array of the parts in order; nested ones follow their parent */
	json_t *named;        /* name -> sum of score x weight */
	json_t *named_weight; /* name -> sum of weights */
	json_t *tokens;
};

/* `threshold` is that of the test or the assert-set; a value that is not a number means no threshold. */
void fh_score_init(struct fh_score *s, FH_NULLABLE const json_t *threshold);
/* `result` has the form of fh_grade_json; `metric` is rendered, or NULL; weight is 1 unless the config says
 * otherwise. */
void fh_score_add(struct fh_score *s, json_t *result, FH_NULLABLE const char *metric, double weight);
/* {pass, score, reason, namedScores, namedScoreWeights?, tokensUsed, componentResults}. New reference; releases s. */
FH_OWN json_t *fh_score_finish(struct fh_score *s);
void fh_score_release(struct fh_score *s);

/* The result of a row without assertions: it passes with score 1. */
FH_OWN json_t *fh_score_none(void);
/* {total, prompt, completion, cached, numRequests}, all 0. */
FH_OWN json_t *fh_tokens_none(void);
