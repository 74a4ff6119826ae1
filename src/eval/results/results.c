/* SPDX-License-Identifier: MIT */
#include "eval/results/results.h"
#include "eval/grading/derived.h"
#include "eval/rendering/template_host.h"
#include "eval/results/repeats.h"

void fh_eval_result_release(struct fh_eval_result *r)
{
	free(r->hook_problem);
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

static json_t *details(void)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i}", "reasoning", 0, "acceptedPrediction", 0, "rejectedPrediction", 0,
	                 "cacheReadInputTokens", 0, "cacheCreationInputTokens", 0);
}

struct fh_eval_graded fh_eval_graded_of(const json_t *grading)
{
	const json_t *used = json_object_get(grading, "tokensUsed");
	return (struct fh_eval_graded){ .total = fh_json_int(used, "total", 0),
		                            .prompt = fh_json_int(used, "prompt", 0),
		                            .completion = fh_json_int(used, "completion", 0),
		                            .cached = fh_json_int(used, "cached", 0),
		                            .requests = fh_json_int(used, "numRequests", 0) };
}

static void add_graded(struct fh_eval_graded *sum, const struct fh_eval_graded *g)
{
	sum->total += g->total;
	sum->prompt += g->prompt;
	sum->completion += g->completion;
	sum->cached += g->cached;
	sum->requests += g->requests;
}

json_t *fh_eval_tokens_json(const struct fh_tokens *t, uint64_t requests, const struct fh_eval_graded *graded)
{
	const struct fh_eval_graded none = { 0 }, *g = graded ? graded : &none;
	json_t *assertions =
	    json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "total", (json_int_t)g->total, "prompt", (json_int_t)g->prompt,
	              "completion", (json_int_t)g->completion, "cached", (json_int_t)g->cached, "numRequests",
	              (json_int_t)g->requests, "completionDetails", details());
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "prompt", (json_int_t)FH_MAX(t->prompt, 0), "completion",
	                 (json_int_t)FH_MAX(t->completion, 0), "cached", (json_int_t)FH_MAX(t->cached, 0), "total",
	                 (json_int_t)FH_MAX(t->total, 0), "numRequests", (json_int_t)requests, "completionDetails",
	                 details(), "assertions", assertions);
}

/* ----------------------------------------------------------------------------------------------- one column's sums */

struct fh_eval_sums {
	double score, latency_ms, cost;
	size_t pass, fail, error, assert_pass, assert_fail;
	json_t *named, *named_count, *named_weight;
	struct fh_tokens tokens;
	struct fh_eval_graded graded;
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

/* How many of the row's assertions contribute to a named score; scores that a script returned count once. */
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

/* Adds the row's named scores: those of assertions by weight, those of hooks unweighted. r->named_scores has none of
 * max-score's. */
static void add_named(struct fh_eval_sums *s, const struct fh_eval_result *r, const json_t *vars)
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

static void add_result(struct fh_eval_sums *s, const struct fh_eval_result *r, const struct fh_eval_graded *graded,
                       const json_t *vars)
{
	s->score += r->score;
	s->latency_ms += (double)(int64_t)(r->latency_ms + .5); /* rounded as in the row's JSON */
	s->cost += r->cost;
	s->pass += r->success;
	s->error += r->failure == FH_FAILURE_ERROR;
	s->fail += !r->success && r->failure != FH_FAILURE_ERROR;
	s->requests += r->asked;
	add_tokens(&s->tokens, &r->tokens);
	add_graded(&s->graded, graded);
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

static json_t *metrics_json(struct fh_eval_sums *s)
{
	return json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:f}", "score", s->score, "testPassCount",
	                 (json_int_t)s->pass, "testFailCount", (json_int_t)s->fail, "testErrorCount", (json_int_t)s->error,
	                 "assertPassCount", (json_int_t)s->assert_pass, "assertFailCount", (json_int_t)s->assert_fail,
	                 "totalLatencyMs", s->latency_ms, "tokenUsage",
	                 fh_eval_tokens_json(&s->tokens, s->requests, &s->graded), "namedScores", s->named,
	                 "namedScoresCount", s->named_count, "namedScoreWeights", s->named_weight, "cost", s->cost);
}

/* ------------------------------------------------------------------------------------------------------- reasons */

#define REASONS_MAX 10000
#define REASON_LENGTH_MAX 1000

/* Counts the reason of a row that did not pass. Errors begin with the word ERROR, as in the table. */
static void add_reason(struct fh_eval_results *r, size_t cell, const struct fh_eval_result *result)
{
	const char *text = result->error ? result->error : "";
	text += fh_starts_with(text, "Error: ") ? strlen("Error: ") : 0;
	size_t n = FH_MIN(strcspn(text, "\n"), (size_t)REASON_LENGTH_MAX);
	bool error = result->failure == FH_FAILURE_ERROR;
	fh_auto_free char *key = fh_xasprintf("%c%.*s", error ? 'e' : 'f', (int)n, text);
	const json_t *known = json_object_get(r->reason_index, key);
	struct fh_eval_reason *reason;
	if (known) {
		reason = &r->reasons[json_integer_value(known)];
		reason->first = FH_MIN(reason->first, cell);
	} else if (r->reason_count == REASONS_MAX) {
		r->reasons_left_out++;
		return;
	} else {
		json_object_set_new_nocheck(r->reason_index, key, json_integer((json_int_t)r->reason_count));
		reason = &FH_PUSH(r->reasons, r->reason_count, r->reason_capacity);
		*reason = (struct fh_eval_reason){ .text = fh_xstrdup(key + 1), .first = cell, .error = error };
	}
	reason->count++;
}

static int by_count(const void *a, const void *b)
{
	const struct fh_eval_reason *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* --------------------------------------------------------------------------------------------------------- results */

void fh_eval_results_begin(const struct fh_eval_plan *plan, struct fh_eval_results *r)
{
	r->count = plan->cell_count;
	r->marks = fh_xcalloc(r->count + 1, sizeof(*r->marks));
	r->rows = fh_eval_rows_new(r->count);
	r->reason_index = json_object();
	r->sums = fh_xcalloc(plan->column_count + 1, sizeof(*r->sums));
	for (size_t i = 0; i < plan->column_count; i++) {
		r->sums[i].named = json_object();
		r->sums[i].named_count = json_object();
		r->sums[i].named_weight = json_object();
	}
	for (unsigned i = 0; i < 2; i++) {
		fh_auto_json json_t *none = fh_eval_tokens_json(&(struct fh_tokens)FH_TOKENS_INIT, i, NULL);
		r->no_tokens[i] = fh_json_text(none, 0);
	}
}

/* Notes the variables that a test has only since its beforeEach hook. */
static void note_hook_vars(const struct fh_eval_plan *plan, struct fh_eval_results *r, const json_t *test)
{
	const char *name;
	json_t *v, *known;
	json_object_foreach(json_object_get(test, "vars"), name, v)
	{
		bool old = false;
		size_t i;
		for (i = 0; i < plan->var_count && !old; i++)
			old = strcmp(plan->vars[i], name) == 0;
		json_array_foreach(r->hook_vars, i, known) old = old || fh_streq(json_string_value(known), name);
		if (old)
			continue;
		r->hook_vars = r->hook_vars ? r->hook_vars : json_array();
		json_array_append_new(r->hook_vars, fh_json_bytes(fh_str(name)));
	}
}

void fh_eval_results_add(const struct fh_eval_plan *plan, struct fh_eval_results *r, size_t cell,
                         const struct fh_eval_result *result, struct fh_str row)
{
	const struct fh_eval_cell *at = &plan->cells[cell];
	fh_eval_rows_put(r->rows, cell, row);
	const struct fh_eval_graded graded = fh_eval_graded_of(result->grading);
	add_graded(&r->graded, &graded);
	add_result(&r->sums[at->column], result, &graded, json_object_get(plan->rows[at->row].test, "vars"));
	r->marks[cell] = (struct fh_eval_mark){ true, result->success, (unsigned char)result->failure };
	r->done++;
	r->successes += result->success;
	r->errors += result->failure == FH_FAILURE_ERROR;
	r->failures += !result->success && result->failure != FH_FAILURE_ERROR;
	r->cost += result->cost;
	r->requests += result->asked;
	add_tokens(&r->tokens, &result->tokens);
	note_hook_vars(plan, r, result->test);
	if (result->hook_problem && r->hook_problems++ == 0)
		r->hook_problem = fh_xstrdup(result->hook_problem);
	if (!result->success)
		add_reason(r, cell, result);
}

int fh_eval_results_finish(const struct fh_eval_plan *plan, struct fh_eval_results *r, struct fh_error *err)
{
	int failed = 0;
	fh_auto_json json_t *repeats = fh_eval_repeats(plan, r->marks);
	r->metrics = json_array();
	for (size_t i = 0; i < plan->column_count; i++) {
		struct fh_eval_sums *s = &r->sums[i];
		if (failed == 0)
			failed = fh_eval_derive(plan->config.document, plan->derived, s->named, s->pass + s->fail + s->error,
			                        fh_eval_plan_call_derived, plan, &r->derived_problem, err);
		json_t *metrics = metrics_json(s);
		if (json_is_object(json_array_get(repeats, i)))
			json_object_set(metrics, "repeats", json_array_get(repeats, i));
		json_array_append_new(r->metrics, metrics);
		s->named = s->named_count = s->named_weight = NULL; /* owned by the metrics now */
	}
	if (r->reason_count > 1)
		qsort(r->reasons, r->reason_count, sizeof(*r->reasons), by_count);
	return failed;
}

void fh_eval_results_release(struct fh_eval_results *r)
{
	free(r->hook_problem);
	free(r->derived_problem);
	for (size_t i = 0; r->sums && r->metrics == NULL && r->sums[i].named; i++) {
		json_decref(r->sums[i].named);
		json_decref(r->sums[i].named_count);
		json_decref(r->sums[i].named_weight);
	}
	for (size_t i = 0; i < r->reason_count; i++)
		free(r->reasons[i].text);
	free(r->reasons);
	json_decref(r->reason_index);
	free(r->sums);
	free(r->marks);
	fh_eval_rows_free(r->rows);
	json_decref(r->metrics);
	json_decref(r->hook_vars);
	free(r->no_tokens[0]);
	free(r->no_tokens[1]);
	*r = (struct fh_eval_results){ 0 };
}

/* ------------------------------------------------------------------------------------------------- rows read back */

static json_t *shared(const json_t *row, const char *key)
{
	json_t *v = json_object_get(row, key);
	return json_is_null(v) ? NULL : json_incref(v);
}

void fh_eval_result_of_row(const json_t *row, struct fh_eval_result *ret)
{
	const json_t *tokens = json_object_get(row, "tokenUsage"), *prompt = json_object_get(row, "prompt");
	const char *error = fh_json_str(row, "error", NULL);
	fh_auto_free char *raw = NULL;
	if (!json_is_string(json_object_get(prompt, "raw")) && json_object_get(prompt, "raw"))
		raw = fh_json_text(json_object_get(prompt, "raw"), 0);
	*ret = (struct fh_eval_result){
		.success = json_is_true(json_object_get(row, "success")),
		.failure = (enum fh_failure)FH_MIN((uint64_t)fh_json_int(row, "failureReason", 0), FH_FAILURE_ERROR),
		.score = fh_json_num(row, "score", 0),
		.error = error ? fh_xstrdup(error) : NULL,
		.prompt = raw ? FH_TAKE_PTR(raw) : fh_xstrdup(fh_json_str(prompt, "raw", "")),
		.test = shared(row, "testCase"),
		.response = shared(row, "response"),
		.grading = shared(row, "gradingResult"),
		.named_scores = shared(row, "namedScores"),
		.metadata = shared(row, "metadata"),
		.asked = fh_json_int(tokens, "numRequests", 0) > 0,
		.latency_ms = fh_json_num(row, "latencyMs", 0),
		.cost = fh_json_num(row, "cost", 0),
		.tokens = FH_TOKENS_INIT,
	};
	ret->tokens.total = fh_json_int(tokens, "total", 0);
	ret->tokens.prompt = fh_json_int(tokens, "prompt", 0);
	ret->tokens.completion = fh_json_int(tokens, "completion", 0);
	ret->tokens.cached = fh_json_int(tokens, "cached", 0);
}

bool fh_eval_results_read(struct fh_eval_results *r, size_t cell, struct fh_eval_result *ret)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	if (!r->marks[cell].done || !fh_eval_rows_get(r->rows, cell, &text))
		return false;
	fh_auto_json json_t *row = fh_json_parse(fh_buf_str(&text), NULL, NULL);
	if (!row)
		return false;
	fh_eval_result_of_row(row, ret);
	return true;
}
