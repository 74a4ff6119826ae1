/* SPDX-License-Identifier: MIT */
#include "eval/compare_columns.h"
#include <stdio.h>
#include "eval/checking/rubric.h"
#include "eval/grading/score.h"

struct totals {
	double score, weight;
	size_t parts;
};

/* The mean (with `method: sum` the sum) of the scores of the row's other assertions, weighted by the value's `weights:
 * {type: w}`. */
static struct totals totals_of(const struct fh_eval_result *r, const json_t *value)
{
	struct totals t = { 0 };
	const json_t *weights = json_object_get(value, "weights"), *part;
	size_t i;
	json_array_foreach(json_object_get(r->grading, "componentResults"), i, part)
	{
		const char *type = fh_json_str(json_object_get(part, "assertion"), "type", NULL);
		if (!type || strcmp(type, "max-score") == 0 || strcmp(type, "select-best") == 0)
			continue;
		double weight = fh_json_num(weights, type, 1);
		t.score += fh_json_num(part, "score", 0) * weight;
		t.weight += weight;
		t.parts++;
	}
	if (strcmp(fh_json_str(value, "method", "average"), "sum") != 0)
		t.score = t.weight > 0 ? t.score / t.weight : 0;
	return t;
}

static void add_component(struct fh_eval_result *r, const json_t *assertion, bool pass, const char *reason,
                          const struct totals *t)
{
	json_t *named = json_pack("{s:f, s:I, s:f}", "maxScore", t->score, "assertionCount", (json_int_t)t->parts,
	                          "totalWeight", t->weight);
	json_t *part = json_pack("{s:b, s:f, s:s, s:O, s:O}", "pass", pass, "score", pass ? 1.0 : 0.0, "reason", reason,
	                         "namedScores", named, "assertion", assertion);
	json_t *parts = json_object_get(r->grading, "componentResults");
	if (!parts)
		json_object_set_new(r->grading, "componentResults", parts = json_array());
	json_array_append_new(parts, part);
	json_object_set(r->grading, "assertion", (json_t *)(uintptr_t)assertion);
	json_t *all = json_object_get(r->grading, "namedScores");
	json_t *merged = all ? json_copy(all) : json_object();
	json_object_update(merged, named);
	json_object_set_new(r->grading, "namedScores", merged);
	json_decref(named);
	if (pass)
		return;
	if (r->success) {
		free(r->error);
		r->error = fh_xstrdup(reason);
		json_object_set_new(r->grading, "reason", json_string(reason));
	}
	r->success = false;
	r->failure = FH_FAILURE_ASSERTION;
	r->score = 0;
	json_object_set_new(r->grading, "pass", json_false());
	json_object_set_new(r->grading, "score", json_real(0));
}

static void select_max(struct fh_eval_result *cells, size_t n, const json_t *assertion)
{
	const json_t *value = json_object_get(assertion, "value"), *threshold = json_object_get(value, "threshold");
	size_t best = SIZE_MAX;
	double max = 0;
	for (size_t i = 0; i < n; i++) {
		double score = totals_of(&cells[i], value).score;
		if (cells[i].grading && (best == SIZE_MAX || score > max)) {
			best = i;
			max = score;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct totals t = totals_of(&cells[i], value);
		char reason[128];
		bool reached = !json_is_number(threshold) || t.score >= json_number_value(threshold);
		if (!cells[i].grading)
			continue;
		if (i == best && reached)
			snprintf(reason, sizeof(reason), "Selected as highest scoring output (score: %.3f)", t.score);
		else if (i == best)
			snprintf(reason, sizeof(reason), "Not selected - score %.3f below threshold %g", t.score,
			         json_number_value(threshold));
		else
			snprintf(reason, sizeof(reason), "Not selected (score: %.3f, max: %.3f)", t.score, max);
		add_component(&cells[i], assertion, i == best && reached, reason, &t);
	}
}

/* ----------------------------------------------------------------------------------------------------- select-best */

static void take_choice(struct fh_eval_result *r, const json_t *assertion, bool pass, const char *reason,
                        const json_t *tokens)
{
	json_t *part = json_pack("{s:b, s:f, s:s, s:O, s:O}", "pass", pass, "score", pass ? 1.0 : 0.0, "reason", reason,
	                         "tokensUsed", tokens, "assertion", assertion);
	json_t *parts = json_object_get(r->grading, "componentResults"), *used = json_object_get(r->grading, "tokensUsed");
	if (!parts)
		json_object_set_new(r->grading, "componentResults", parts = json_array());
	json_array_append_new(parts, part);
	const char *name;
	json_t *n;
	json_object_foreach((json_t *)(uintptr_t)tokens, name, n)
	    json_object_set_new(used, name, json_integer(fh_json_int(used, name, 0) + json_integer_value(n)));
	if (pass)
		return;
	json_object_set_new(r->grading, "pass", json_false());
	json_object_set_new(r->grading, "score", json_real(0));
	json_object_set_new(r->grading, "reason", fh_json_bytes(fh_str(reason)));
	if (r->success) {
		free(r->error);
		r->error = fh_xstrdup(reason);
		r->failure = FH_FAILURE_ASSERTION;
	}
	r->success = false;
	r->score = 0;
}

/* Makes every cell of the row an error: a comparison without a verdict says nothing about any of them. */
static void take_error(struct fh_eval_result *r, const char *why)
{
	json_decref(r->grading);
	free(r->error);
	r->grading = NULL;
	r->error = fh_xasprintf("Error: %s", why);
	r->failure = FH_FAILURE_ERROR;
	r->success = false;
	r->score = 0;
}

static int ask_best(const struct fh_eval_run *run, const struct fh_eval_result *cells, size_t n, const json_t *test,
                    const json_t *assertion, size_t *ret, json_t *tokens, struct fh_error *err)
{
	const char *criteria = fh_json_str(assertion, "value", NULL);
	if (!criteria)
		return fh_error_set(err, FH_E_ARGUMENT, "select-best must have a string value");
	if (n < 2)
		return fh_error_set(err, FH_E_ARGUMENT, "select-best must have at least two outputs to compare between");
	fh_auto_json json_t *vars = json_copy(json_object_get(test, "vars")), *outputs = json_array();
	for (size_t i = 0; i < n; i++) {
		json_t *output = json_object_get(cells[i].response, "output");
		json_array_append_new(outputs, output ? fh_rubric_parsed(output) : json_string(""));
	}
	json_object_set_new(vars, "criteria", json_string(criteria));
	json_object_set(vars, "outputs", outputs);
	struct fh_rubric_call call = { .vars = vars,
		                           .test = test,
		                           .assertion = assertion,
		                           .what = "select-best",
		                           .graders = run->graders,
		                           .config_dir = run->plan->config.dir,
		                           .services = run->services };
	fh_auto_free char *answer = NULL;
	int r = fh_rubric_ask(&call, fh_rubric_prompt_select_best, &answer, tokens, err);
	if (r < 0)
		return r;
	size_t digits = strcspn(answer, "0123456789");
	unsigned long best = answer[digits] ? strtoul(answer + digits, NULL, 10) : n;
	if (best >= n)
		return fh_error_set(err, FH_E_ARGUMENT, "the grader of select-best chose none of the %zu outputs: %.200s", n,
		                    answer);
	*ret = best;
	return 0;
}

static void select_best(const struct fh_eval_run *run, struct fh_eval_result *cells, size_t n, const json_t *test,
                        const json_t *assertion)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *tokens = fh_tokens_none();
	size_t best = 0;
	int r = ask_best(run, cells, n, test, assertion, &best, tokens, &err);
	const char *criteria = fh_json_str(assertion, "value", "");
	for (size_t i = 0; i < n; i++) {
		if (r < 0) {
			take_error(&cells[i], err.message);
			continue;
		}
		fh_auto_free char *reason =
		    fh_xasprintf(i == best ? "Output selected as the best: %s" : "Output not selected: %s", criteria);
		if (cells[i].grading)
			take_choice(&cells[i], assertion, i == best, reason, tokens);
	}
}

/* --------------------------------------------------------------------------------------------------------- one row */

static const json_t *first_of(const json_t *test, const char *type)
{
	size_t i;
	json_t *assertion;
	json_array_foreach(json_object_get(test, "assert"), i,
	                   assertion) if (strcmp(fh_json_str(assertion, "type", ""), type) == 0) return assertion;
	return NULL;
}

void fh_eval_compare_columns(const struct fh_eval_run *run, const json_t *test, struct fh_eval_result *cells, size_t n)
{
	const json_t *best = first_of(test, "select-best"), *most = first_of(test, "max-score");
	if (best)
		select_best(run, cells, n, test, best);
	if (most)
		select_max(cells, n, most);
}
