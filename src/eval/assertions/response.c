/* SPDX-License-Identifier: MIT */
/* Assertions on the provider's response beside its text: perplexity and perplexity-score (computed from logProbs),
 * guardrails. */
#include <math.h>
#include "eval/assertions/kinds.h"
#include "eval/grading/grade.h"

static int mean_log_prob(const struct fh_assertion_call *call, double *ret, struct fh_error *err)
{
	const json_t *probs = json_object_get(call->response, "logProbs");
	size_t n = json_array_size(probs);
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += json_number_value(json_array_get(probs, i));
	if (n == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" needs a provider that returns logProbs", call->kind->name);
	*ret = sum / (double)n;
	return 0;
}

static int check_perplexity(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	double mean = 0;
	int r = mean_log_prob(call, &mean, err);
	if (r < 0)
		return r;
	double perplexity = exp(-mean);
	bool holds = !call->has_threshold ? !call->inverse : perplexity <= call->threshold;
	return fh_grade_set(ret, call, holds, "Perplexity %.2f is %s threshold %g", perplexity,
	                    call->inverse ? "less than or equal to" : "greater than", call->threshold);
}

static int check_score(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	double mean = 0;
	int r = mean_log_prob(call, &mean, err);
	if (r < 0)
		return r;
	double score = 1 / (1 + exp(-mean));
	bool holds = !call->has_threshold ? !call->inverse : score >= call->threshold;
	fh_grade_set(ret, call, holds, "Perplexity score %.2f is %s threshold %g", score,
	             call->inverse ? "greater than or equal to" : "less than", call->threshold);
	ret->score = call->inverse ? 1 - score : score;
	return 0;
}

/* guardrails: fails when the provider flagged the prompt or the answer. */
static int check_guardrails(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const json_t *g = json_object_get(call->response, "guardrails");
	bool flagged = json_is_true(json_object_get(g, "flagged"));
	const char *why = json_is_true(json_object_get(g, "flaggedInput"))    ? "Prompt failed safety checks"
	                  : json_is_true(json_object_get(g, "flaggedOutput")) ? "Output failed safety checks"
	                                                                      : "Content failed safety checks";
	const char *reason = fh_json_str(g, "reason", "");
	fh_grade_set(ret, call, !flagged, "%s", "");
	free(ret->reason);
	if (flagged)
		ret->reason =
		    fh_xasprintf("%s%s", call->inverse ? "Guardrail correctly blocked: " : "", *reason ? reason : why);
	else
		ret->reason = fh_xstrdup(call->inverse ? "Content was not blocked by guardrails (expected to be blocked)"
		                                       : "Content passed safety checks");
	return 0;
}

const struct fh_assertion fh_assertion_perplexity = { .name = "perplexity", .check = check_perplexity };
const struct fh_assertion fh_assertion_perplexity_score = { .name = "perplexity-score", .check = check_score };
const struct fh_assertion fh_assertion_guardrails = { .name = "guardrails", .check = check_guardrails };
