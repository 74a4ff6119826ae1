/* SPDX-License-Identifier: MIT */
#include "eval/grading/score.h"
#include <math.h>

json_t *fh_tokens_none(void)
{
	static const char *const names[] = { "total", "prompt", "completion", "cached", "numRequests" };
	json_t *o = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		json_object_set_new_nocheck(o, names[i], json_integer(0));
	return o;
}

json_t *fh_score_none(void)
{
	return json_pack("{s:b, s:f, s:s, s:o}", "pass", 1, "score", 1.0, "reason", "No assertions", "tokensUsed",
	                 fh_tokens_none());
}

void fh_score_init(struct fh_score *s, const json_t *threshold)
{
	*s = (struct fh_score){ .has_threshold = json_is_number(threshold), .threshold = json_number_value(threshold) };
	s->components = json_array();
	s->named = json_object();
	s->named_weight = json_object();
	s->tokens = fh_tokens_none();
}

void fh_score_release(struct fh_score *s)
{
	free(s->failed);
	json_decref(s->components);
	json_decref(s->named);
	json_decref(s->named_weight);
	json_decref(s->tokens);
	*s = (struct fh_score){ 0 };
}

static void add_number(json_t *object, const char *key, double n)
{
	json_object_set_new(object, key, json_real(fh_json_num(object, key, 0) + n));
}

static void add_named(struct fh_score *s, const char *name, double score, double weight)
{
	add_number(s->named, name, score * weight);
	add_number(s->named_weight, name, weight);
}

static void add_components(struct fh_score *s, json_t *result)
{
	json_array_append(s->components, result);
	size_t i;
	json_t *part;
	json_array_foreach(json_object_get(result, "componentResults"), i, part)
	{
		if (json_object_get(part, "assertion") || !json_is_object(part)) {
			json_array_append(s->components, part);
			continue;
		}
		json_t *copy = json_copy(part);
		json_t *assertion = json_object_get(result, "assertion");
		if (assertion)
			json_object_set(copy, "assertion", assertion);
		json_array_append_new(s->components, copy);
	}
}

void fh_score_add(struct fh_score *s, json_t *result, const char *metric, double weight)
{
	double score = fh_json_num(result, "score", 0);
	s->total += score * weight;
	s->weight += weight;
	add_components(s, result);
	if (metric && *metric)
		add_named(s, metric, score, weight);
	const json_t *own_weights = json_object_get(result, "namedScoreWeights");
	const char *name;
	json_t *v;
	json_object_foreach(json_object_get(result, "namedScores"), name,
	                    v) if (json_is_number(v) && !fh_streq(name, metric))
	    add_named(s, name, json_number_value(v), fh_json_num(own_weights, name, 1) * weight);
	json_object_foreach(json_object_get(result, "tokensUsed"), name,
	                    v) if (json_is_integer(v) && json_object_get(s->tokens, name))
	    json_object_set_new(s->tokens, name, json_integer(fh_json_int(s->tokens, name, 0) + json_integer_value(v)));
	if (json_is_true(json_object_get(result, "pass")))
		return;
	const json_t *assertion = json_object_get(result, "assertion");
	s->blocked =
	    s->blocked || (strcmp(fh_json_str(assertion, "type", ""), "guardrails") == 0 &&
	                   strcmp(fh_json_str(json_object_get(assertion, "config"), "purpose", ""), "redteam") == 0);
	free(s->failed);
	s->failed = fh_xstrdup(fh_json_str(result, "reason", ""));
}

/* Two decimals, as JavaScript's toFixed(2) writes them: an odd eighth (0.625) lies exactly in the middle and moves away
 * from zero, where printf takes the even neighbour. */
static void add_rounded(struct fh_buf *out, double score)
{
	if (fabs(fmod(score * 8, 2)) == 1)
		score += copysign(.001, score);
	fh_buf_addf(out, "%.2f", score);
}

json_t *fh_score_finish(struct fh_score *s)
{
	double score = s->weight > 0 ? s->total / s->weight : 0;
	bool pass = !s->failed;
	struct fh_buf reason = FH_BUF_INIT(0);
	if (s->has_threshold) {
		pass = score >= s->threshold;
		fh_buf_adds(&reason, "Aggregate score ");
		add_rounded(&reason, score);
		fh_buf_adds(&reason, pass ? " ≥ " : " < ");
		fh_json_write_number(&reason, s->threshold);
		fh_buf_adds(&reason, " threshold");
	} else {
		fh_buf_adds(&reason, s->failed ? s->failed : "All assertions passed");
	}
	if (s->blocked) {
		pass = true;
		fh_buf_truncate(&reason, 0);
		fh_buf_adds(&reason, "Content failed guardrail safety checks");
	}
	json_t *means = json_object();
	const char *name;
	json_t *sum;
	json_object_foreach(s->named, name, sum)
	{
		double weight = fh_json_num(s->named_weight, name, 0);
		json_object_set_new(means, name, json_real(weight > 0 ? json_number_value(sum) / weight : 0));
	}
	json_t *r = json_object();
	json_object_set_new(r, "pass", json_boolean(pass));
	json_object_set_new(r, "score", json_real(score));
	json_object_set_new(r, "reason", fh_json_bytes(fh_buf_str(&reason)));
	json_object_set_new(r, "namedScores", means);
	if (json_object_size(s->named_weight) > 0)
		json_object_set(r, "namedScoreWeights", s->named_weight);
	json_object_set(r, "tokensUsed", s->tokens);
	json_object_set(r, "componentResults", s->components);
	fh_buf_release(&reason);
	fh_score_release(s);
	return r;
}
