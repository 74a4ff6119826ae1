/* SPDX-License-Identifier: MIT */
#include "eval/select.h"
#include <stdio.h>

struct totals {
	double score, weight;
	size_t parts;
};

/* The mean (or sum) of the other assertions' scores, weighted by `weights: {type: w}` of the assertion's value. */
static struct totals totals_of(const struct fh_eval_result *r, const json_t *value)
{
	struct totals t = { 0 };
	const json_t *weights = json_object_get(value, "weights"), *part;
	size_t i;
	json_array_foreach(json_object_get(r->grading, "componentResults"), i, part)
	{
		const char *type = fh_json_str(json_object_get(part, "assertion"), "type", "");
		if (strcmp(type, "max-score") == 0)
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

static const json_t *max_score_of(const json_t *test)
{
	size_t i;
	json_t *assertion;
	json_array_foreach(json_object_get(test, "assert"), i,
	                   assertion) if (strcmp(fh_json_str(assertion, "type", ""), "max-score") == 0) return assertion;
	return NULL;
}

void fh_eval_select(const struct fh_eval_plan *plan, struct fh_eval_results *r)
{
	for (size_t start = 0, end; start < r->count; start = end) {
		uint32_t row = plan->cells[start].row;
		bool done = true;
		for (end = start; end < r->count && plan->cells[end].row == row; end++)
			done = done && r->items[end].done;
		const json_t *assertion = max_score_of(plan->rows[row].test);
		if (assertion && done)
			select_max(&r->items[start], end - start, assertion);
	}
}
