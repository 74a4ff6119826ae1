/* SPDX-License-Identifier: MIT */
#include "eval/results.h"
#include "eval/derived.h"
#include "eval/render.h"

void fh_eval_result_release(struct fh_eval_result *r)
{
	free(r->error);
	free(r->prompt);
	json_decref(r->prompt_config);
	json_decref(r->test);
	json_decref(r->named_scores);
	json_decref(r->response);
	json_decref(r->grading);
	json_decref(r->metadata);
	*r = (struct fh_eval_result){ 0 };
}

void fh_eval_results_release(struct fh_eval_results *r)
{
	for (size_t i = 0; i < r->count; i++)
		fh_eval_result_release(&r->items[i]);
	free(r->items);
	json_decref(r->metrics);
	free(r->no_tokens[0]);
	free(r->no_tokens[1]);
	*r = (struct fh_eval_results){ 0 };
}

static json_t *details(void)
{
	return json_pack("{s:i, s:i, s:i}", "reasoning", 0, "acceptedPrediction", 0, "rejectedPrediction", 0);
}

json_t *fh_eval_tokens_json(const struct fh_tokens *t, uint64_t requests)
{
	json_t *assertions = json_pack("{s:i, s:i, s:i, s:i, s:i, s:o}", "total", 0, "prompt", 0, "completion", 0, "cached",
	                               0, "numRequests", 0, "completionDetails", details());
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "prompt", (json_int_t)FH_MAX(t->prompt, 0), "completion",
	                 (json_int_t)FH_MAX(t->completion, 0), "cached", (json_int_t)FH_MAX(t->cached, 0), "total",
	                 (json_int_t)FH_MAX(t->total, 0), "numRequests", (json_int_t)requests, "completionDetails",
	                 details(), "assertions", assertions);
}

/* ----------------------------------------------------------------------------------------------- one column's sums */

struct sums {
	double score, latency_ms, cost;
	size_t pass, fail, error, assert_pass, assert_fail;
	json_t *named, *named_count, *named_weight;
	struct fh_tokens tokens;
	uint64_t requests;
};

static void add_to(json_t *object, const char *key, double n)
{
	json_object_set_new(object, key, json_real(fh_json_num(object, key, 0) + n));
}

static void add_tokens(struct fh_tokens *sum, const struct fh_tokens *t)
{
	sum->total += FH_MAX(t->total, 0);
	sum->prompt += FH_MAX(t->prompt, 0);
	sum->completion += FH_MAX(t->completion, 0);
	sum->cached += FH_MAX(t->cached, 0);
}

/* How many assertions of the row feed the named score; those that scripts return count once. */
static size_t contributors(const json_t *parts, const char *name, const json_t *vars)
{
	size_t n = 0, i;
	json_t *part;
	json_array_foreach(parts, i, part)
	{
		const char *metric = fh_json_str(json_object_get(part, "assertion"), "metric", NULL);
		fh_auto_free char *rendered = NULL;
		if (metric && strchr(metric, '{') && fh_render_text(fh_str(metric), vars, &rendered, NULL) == 0)
			metric = rendered;
		n += fh_streq(metric, name);
	}
	return n > 0 ? n : 1;
}

/* Named scores of the row: those of its assertions by their weights, those of hooks as they are. What max-score notes
 * about itself stays in the row. */
static void add_named(struct sums *s, const struct fh_eval_result *r, const json_t *vars)
{
	const json_t *weights = json_object_get(r->grading, "namedScoreWeights");
	const char *name;
	json_t *v;
	json_object_foreach(r->named_scores, name, v)
	{
		const json_t *weight = json_object_get(weights, name);
		double count = (double)contributors(json_object_get(r->grading, "componentResults"), name, vars);
		double w = weight ? json_number_value(weight) : count;
		add_to(s->named, name, json_number_value(v) * (weight ? w : 1));
		add_to(s->named_weight, name, w);
		add_to(s->named_count, name, count);
	}
}

static void add_result(struct sums *s, const struct fh_eval_result *r, const json_t *vars)
{
	s->score += r->score;
	s->latency_ms += r->latency_ms;
	s->cost += r->cost;
	s->pass += r->success;
	s->error += r->failure == FH_FAILURE_ERROR;
	s->fail += !r->success && r->failure != FH_FAILURE_ERROR;
	s->requests += r->response != NULL;
	add_tokens(&s->tokens, &r->tokens);
	size_t i;
	json_t *part;
	json_array_foreach(json_object_get(r->grading, "componentResults"), i, part)
	{
		bool pass = json_is_true(json_object_get(part, "pass"));
		s->assert_pass += pass;
		s->assert_fail += !pass;
	}
	add_named(s, r, vars);
}

static json_t *metrics_json(struct sums *s)
{
	return json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:f}", "score", s->score, "testPassCount",
	                 (json_int_t)s->pass, "testFailCount", (json_int_t)s->fail, "testErrorCount", (json_int_t)s->error,
	                 "assertPassCount", (json_int_t)s->assert_pass, "assertFailCount", (json_int_t)s->assert_fail,
	                 "totalLatencyMs", s->latency_ms, "tokenUsage", fh_eval_tokens_json(&s->tokens, s->requests),
	                 "namedScores", s->named, "namedScoresCount", s->named_count, "namedScoreWeights", s->named_weight,
	                 "cost", s->cost);
}

int fh_eval_results_sum(const struct fh_eval_plan *plan, struct fh_eval_results *r, struct fh_error *err)
{
	fh_auto_free struct sums *sums = fh_xcalloc(plan->column_count + 1, sizeof(*sums));
	for (size_t i = 0; i < plan->column_count; i++) {
		sums[i].named = json_object();
		sums[i].named_count = json_object();
		sums[i].named_weight = json_object();
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct fh_eval_cell *cell = &plan->cells[i];
		if (r->items[i].done)
			add_result(&sums[cell->column], &r->items[i], json_object_get(plan->rows[cell->row].test, "vars"));
	}
	r->metrics = json_array();
	for (unsigned i = 0; i < 2; i++) {
		fh_auto_json json_t *none = fh_eval_tokens_json(&(struct fh_tokens)FH_TOKENS_INIT, i);
		r->no_tokens[i] = fh_json_text(none, 0);
	}
	const json_t *derived = json_object_get(plan->config.root, "derivedMetrics");
	int failed = 0;
	for (size_t i = 0; i < plan->column_count; i++) {
		struct sums *s = &sums[i];
		if (failed == 0)
			failed = fh_eval_derive(plan->config.document, derived, s->named, s->pass + s->fail + s->error, err);
		r->successes += s->pass;
		r->failures += s->fail;
		r->errors += s->error;
		r->requests += s->requests;
		add_tokens(&r->tokens, &s->tokens);
		json_array_append_new(r->metrics, metrics_json(s));
	}
	return failed;
}
