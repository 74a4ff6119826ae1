/* SPDX-License-Identifier: MIT */
/* Assertions that use a provider's other services: similar (cosine, dot, euclidean) and answer-relevance use
 * embeddings; classifier and moderation use the operations of these names. */
#include <float.h>
#include <math.h>
#include "eval/assertions/graded/graded.h"

#define QUESTIONS 3

static int ask_service(const struct fh_assertion_call *call, enum fh_provider_operation operation, const char *text,
                       json_t **ret, json_t *tokens, struct fh_error *err)
{
	struct fh_grader_request q = { .operation = operation,
		                           .what = call->kind->name,
		                           .assertion = call->assertion,
		                           .test = call->test,
		                           .prompt = fh_str(text),
		                           .vars = call->vars };
	fh_auto_provider_response struct fh_provider_response response = FH_PROVIDER_RESPONSE_INIT;
	int r = fh_graders_call(call->graders, &q, &response, tokens, err);
	if (r == 0)
		*ret = json_incref(response.output);
	return r;
}

enum metric { COSINE, DOT, EUCLIDEAN };

static int compare(const json_t *a, const json_t *b, enum metric metric, double *ret, struct fh_error *err)
{
	double dot = 0, aa = 0, bb = 0, distance = 0;
	size_t n = json_array_size(a);
	if (n == 0 || n != json_array_size(b))
		return fh_error_set(err, FH_E_ARGUMENT, "embeddings must be lists of numbers of one length (%zu and %zu)", n,
		                    json_array_size(b));
	for (size_t i = 0; i < n; i++) {
		double x = json_number_value(json_array_get(a, i)), y = json_number_value(json_array_get(b, i));
		dot += x * y;
		aa += x * x;
		bb += y * y;
		distance += (x - y) * (x - y);
	}
	*ret = metric == DOT         ? dot
	       : metric == EUCLIDEAN ? sqrt(distance)
	       : aa > 0 && bb > 0    ? dot / (sqrt(aa) * sqrt(bb))
	                             : 0;
	return 0;
}

static bool passes(const struct fh_assertion_call *call, enum metric metric, double v, double threshold)
{
	if (metric == EUCLIDEAN)
		return call->inverse ? v >= threshold - DBL_EPSILON : v <= threshold + DBL_EPSILON;
	return call->inverse ? v <= threshold + DBL_EPSILON : v >= threshold - DBL_EPSILON;
}

static int check_similar(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const char *colon = strchr(call->kind->name, ':');
	enum metric metric = !colon || colon[1] == 'c' ? COSINE : colon[1] == 'd' ? DOT : EUCLIDEAN;
	double threshold = call->has_threshold ? call->threshold : .75;
	fh_auto_json json_t *list =
	    json_is_string(call->value) ? json_pack("[O]", call->value) : json_incref((json_t *)(uintptr_t)call->value);
	fh_auto_json json_t *tokens = json_object();
	json_t *own = NULL;
	if (json_array_size(list) == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "similar must have a string, or a list of strings, as its value");
	int r = ask_service(call, FH_PROVIDER_EMBEDDING, call->output_text.p, &own, tokens, err);
	bool decided = false;
	for (size_t i = 0; i < json_array_size(list) && r == 0 && !decided; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		json_t *other = NULL;
		double v = 0;
		r = ask_service(call, FH_PROVIDER_EMBEDDING, text ? text : "", &other, tokens, err);
		if (r == 0)
			r = compare(other, own, metric, &v, err);
		json_decref(other);
		double score = metric == EUCLIDEAN ? 1 / (1 + v) : v;
		score = call->inverse ? 1 - score : score;
		bool pass = passes(call, metric, v, threshold);
		/* One similar value is enough to pass; under "not-" a single similar value fails. */
		if (i == 0 || pass != call->inverse || (call->inverse ? score < ret->score : score > ret->score)) {
			ret->pass = pass;
			ret->score = score;
			free(ret->reason);
			bool near = pass != call->inverse;
			ret->reason = metric == EUCLIDEAN
			                  ? fh_xasprintf("Distance %.2f is %s threshold %g", v,
			                                 near ? "less than or equal to" : "greater than", threshold)
			                  : fh_xasprintf("Similarity %.2f is %s threshold %g", v,
			                                 near ? "greater than or equal to" : "less than", threshold);
		}
		decided = pass != call->inverse;
	}
	json_decref(own);
	ret->tokens_used = json_incref(tokens);
	return r;
}

/* Has a model write questions that the answer would answer, and compares their embeddings with the prompt's. */
static int check_answer(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_json json_t *tokens = json_object(), *vars = json_object(), *questions = json_array();
	const char *query = fh_json_str(call->vars, "query", call->prompt);
	json_t *asked = NULL;
	double sum = 0, threshold = call->has_threshold ? call->threshold : .5;
	json_object_set_new(vars, "answer", fh_rubric_parsed(call->output));
	struct fh_rubric_call c = fh_graded_call(call, vars);
	int r = ask_service(call, FH_PROVIDER_EMBEDDING, query, &asked, tokens, err);
	for (int i = 0; i < QUESTIONS && r == 0; i++) {
		fh_auto_free char *question = NULL;
		json_t *vector = NULL;
		double v = 0;
		r = fh_rubric_ask(&c, fh_rubric_prompt_question, &question, tokens, err);
		if (r == 0)
			r = ask_service(call, FH_PROVIDER_EMBEDDING, question, &vector, tokens, err);
		if (r == 0)
			r = compare(asked, vector, COSINE, &v, err);
		json_decref(vector);
		sum += v;
		if (r == 0)
			json_array_append_new(questions, json_pack("{s:s, s:f}", "question", question, "similarity", v));
	}
	json_decref(asked);
	if (r < 0)
		return r;
	double mean = sum / QUESTIONS;
	bool pass = mean >= threshold - DBL_EPSILON;
	fh_graded_set(ret, pass != call->inverse, call->inverse ? 1 - mean : mean,
	              fh_xasprintf("Relevance %.2f is %s than threshold %g", mean, pass ? "greater" : "less", threshold),
	              tokens);
	ret->metadata = json_pack("{s:O, s:f, s:f}", "generatedQuestions", questions, "averageSimilarity", mean,
	                          "threshold", threshold);
	return 0;
}

static int check_classifier(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	json_t *classes = NULL, *v;
	const char *expected = json_string_value(call->value), *name;
	double score = 0, threshold = call->has_threshold ? call->threshold : 1;
	int r = ask_service(call, FH_PROVIDER_CLASSIFICATION, call->output_text.p, &classes, NULL, err);
	if (r < 0)
		return r;
	if (!json_is_object(classes) || json_object_size(classes) == 0)
		r = fh_error_set(err, FH_E_ARGUMENT, "the classifier returned no scores");
	json_object_foreach(classes, name, v)
	{
		if (!expected || strcmp(name, expected) == 0)
			score = FH_MAX(score, json_number_value(v));
	}
	json_decref(classes);
	bool pass = score >= threshold - DBL_EPSILON;
	ret->pass = pass != call->inverse;
	ret->score = call->inverse ? 1 - score : score;
	const char *than = pass ? ">=" : "<";
	ret->reason = expected ? fh_xasprintf("Classification %s has score %.2f %s %g", expected, score, than, threshold)
	                       : fh_xasprintf("Maximum classification score %.2f %s %g", score, than, threshold);
	return r;
}

static bool is_wanted(const json_t *categories, const char *code)
{
	for (size_t i = 0; i < json_array_size(categories); i++)
		if (fh_streq(json_string_value(json_array_get(categories, i)), code))
			return true;
	return json_array_size(categories) == 0;
}

static int check_moderation(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	json_t *flags = NULL;
	struct fh_buf found = FH_BUF_INIT(0);
	fh_auto_json json_t *tokens = json_object();
	if (call->value && !json_is_array(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "moderation: the value is a list of categories");
	int r =
	    call->output_text.n ? ask_service(call, FH_PROVIDER_MODERATION, call->output_text.p, &flags, tokens, err) : 0;
	const json_t *list = json_is_object(flags) ? json_object_get(flags, "flags") : flags;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *flag = json_array_get(list, i);
		if (is_wanted(call->value, fh_json_str(flag, "code", "")))
			fh_buf_addf(&found, "%s%s", found.n ? ", " : "",
			            fh_json_str(flag, "description", fh_json_str(flag, "code", "")));
	}
	json_decref(flags);
	bool pass = found.n == 0;
	if (r == 0)
		fh_graded_set(ret, pass != call->inverse, pass != call->inverse,
		              pass ? fh_xstrdup("No moderation flags detected")
		                   : fh_xasprintf("Moderation flags detected: %s", fh_buf_cstr(&found)),
		              tokens);
	fh_buf_release(&found);
	return r;
}

const struct fh_assertion fh_assertion_similar = { .name = "similar",
	                                               .check = check_similar,
	                                               .asks = 1 << FH_PROVIDER_EMBEDDING };
const struct fh_assertion fh_assertion_similar_cosine = {
	.name = "similar:cosine", .check = check_similar, .asks = 1 << FH_PROVIDER_EMBEDDING, .graded = true
};
const struct fh_assertion fh_assertion_similar_dot = { .name = "similar:dot",
	                                                   .check = check_similar,
	                                                   .asks = 1 << FH_PROVIDER_EMBEDDING };
const struct fh_assertion fh_assertion_similar_euclidean = {
	.name = "similar:euclidean", .check = check_similar, .asks = 1 << FH_PROVIDER_EMBEDDING, .graded = true
};
const struct fh_assertion fh_assertion_answer_relevance = { .name = "answer-relevance",
	                                                        .check = check_answer,
	                                                        .asks =
	                                                            1 << FH_PROVIDER_ANSWER | 1 << FH_PROVIDER_EMBEDDING,
	                                                        .graded = true };
const struct fh_assertion fh_assertion_classifier = { .name = "classifier",
	                                                  .check = check_classifier,
	                                                  .asks = 1 << FH_PROVIDER_CLASSIFICATION };
const struct fh_assertion fh_assertion_moderation = { .name = "moderation",
	                                                  .check = check_moderation,
	                                                  .asks = 1 << FH_PROVIDER_MODERATION };
