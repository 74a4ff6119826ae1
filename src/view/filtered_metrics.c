/* SPDX-License-Identifier: MIT */
#include "view/filtered_metrics.h"

#include "sink/row.h"

/* ---------------------------------------------------------------------------------------------------------- tokens */

/* promptfoo's tokenUsage without what is nested in it. */
struct usage {
	int64_t total, prompt, completion, cached, requests;
};

/* Tokens of a column, by who used them: the provider, an attacking model, the graders. */
struct usages {
	struct usage target, attacker, grading;
};

static int64_t whole(const json_t *usage, const char *name)
{
	return (int64_t)fh_json_num(usage, name, 0);
}

/* Reads a usage; from_cache: the answer came from a cache, which promptfoo counts by rules of its own. */
static struct usage read_usage(const json_t *u, bool from_cache)
{
	struct usage r = { .prompt = whole(u, "prompt"),
		               .completion = whole(u, "completion"),
		               .cached = whole(u, "cached") };
	bool has_total = json_is_number(json_object_get(u, "total"));
	int64_t total = whole(u, "total"), both = r.prompt + r.completion;
	if (!json_is_object(u))
		return r;
	r.requests = (int64_t)fh_json_num(u, "numRequests", 1);
	if (from_cache) {
		r.total = total > 0 ? total : r.cached > 0 ? r.cached : both;
		r.cached = r.cached > 0 ? r.cached : has_total ? total : both;
		r.requests = FH_MAX(r.requests, 1);
	} else if (has_total) {
		r.total = total;
	} else {
		r.total = r.requests == 0 && r.cached > 0 && both <= r.cached ? 0 : both;
	}
	return r;
}

/* What was paid: told apart by the provider, or else all of it, unless a cache answered. */
static struct usage read_paid(const json_t *u, const json_t *paid, bool none)
{
	if (json_is_object(paid))
		return read_usage(paid, false);
	return none ? (struct usage){ 0 } : read_usage(u, false);
}

static void add(struct usage *to, struct usage u)
{
	to->total += u.total;
	to->prompt += u.prompt;
	to->completion += u.completion;
	to->cached += u.cached;
	to->requests += u.requests;
}

static json_t *usage_json(const struct usage *u)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "total", (json_int_t)u->total, "prompt", (json_int_t)u->prompt,
	                 "completion", (json_int_t)u->completion, "cached", (json_int_t)u->cached, "numRequests",
	                 (json_int_t)u->requests);
}

static json_t *usages_json(const struct usages *u)
{
	json_t *o = usage_json(&u->target);
	json_object_set_new(o, "attacker", usage_json(&u->attacker));
	json_object_set_new(o, "assertions", usage_json(&u->grading));
	return o;
}

/* --------------------------------------------------------------------------------------------------------- columns */

struct sums {
	uint64_t cells, passed, failed, errors, checks_passed, checks_failed;
	double score, latency_ms, cost;
	struct usages used, paid;
	bool tells_paid;
	json_t *named, *named_counts, *named_weights; /* objects: name -> number; NULL: no cell so far */
};

struct columns {
	struct sums *items;
	size_t count;
};

static void add_tokens(struct sums *s, const json_t *response, const json_t *graded)
{
	const json_t *used = json_object_get(response, "tokenUsage"), *paid = json_object_get(used, "incurredTokenUsage");
	const json_t *grading = json_object_get(graded, "tokensUsed"), *inside = json_object_get(used, "assertions");
	const json_t *grading_paid = json_object_get(grading, "incurredTokenUsage");
	bool cached = fh_json_bool(response, "cached", false);
	bool grading_cached = fh_json_bool(json_object_get(graded, "metadata"), "cachedResponse", false);
	s->tells_paid |= paid || grading_paid || cached || grading_cached;
	add(&s->used.target, read_usage(used, false));
	add(&s->used.attacker, read_usage(json_object_get(used, "attacker"), false));
	add(&s->used.grading, read_usage(inside, false));
	add(&s->used.grading, read_usage(grading, grading_cached));
	add(&s->paid.target, read_paid(used, paid, cached));
	add(&s->paid.attacker,
	    read_paid(json_object_get(used, "attacker"), json_object_get(paid, "attacker"), paid || cached));
	add(&s->paid.grading, read_paid(inside, json_object_get(paid, "assertions"), paid || cached));
	add(&s->paid.grading, read_paid(grading, grading_paid, grading_cached));
}

static void add_number(json_t *to, const char *name, double n)
{
	json_object_set_new(to, name, json_real(fh_json_num(to, name, 0) + n));
}

static void add_named(struct sums *s, const json_t *named, const json_t *weights)
{
	const char *name;
	json_t *score;
	json_object_foreach((json_t *)(uintptr_t)named, name, score)
	{
		double weight = fh_json_num(weights, name, 1);
		add_number(s->named, name, json_number_value(score) * weight);
		add_number(s->named_counts, name, 1);
		add_number(s->named_weights, name, weight);
	}
}

static void add_checks(struct sums *s, const json_t *checks)
{
	for (size_t i = 0; i < json_array_size(checks); i++) {
		bool pass = fh_json_bool(json_array_get(checks, i), "pass", false);
		s->checks_passed += pass;
		s->checks_failed += !pass;
	}
}

static int add_cell(void *context, const struct fh_store_cell *c, struct fh_error *err)
{
	const struct columns *columns = context;
	if (c->column >= columns->count)
		return 0;
	struct sums *s = &columns->items[c->column];
	fh_auto_json json_t *data = fh_json_parse((struct fh_str){ c->data, c->data_n }, NULL, NULL);
	const json_t *graded = json_object_get(data, "gradingResult");
	if (!s->named) {
		s->named = json_object();
		s->named_counts = json_object();
		s->named_weights = json_object();
	}
	s->cells++;
	s->passed += c->success;
	s->failed += !c->success && c->failure != FH_FAILURE_ERROR;
	s->errors += c->failure == FH_FAILURE_ERROR;
	s->score += c->score;
	s->latency_ms += c->latency_ms;
	s->cost += c->cost;
	add_tokens(s, json_object_get(data, "response"), graded);
	add_named(s, json_object_get(data, "namedScores"), json_object_get(graded, "namedScoreWeights"));
	add_checks(s, json_object_get(graded, "componentResults"));
	return 0;
}

static json_t *object_or_empty(const json_t *o)
{
	return o ? json_incref((json_t *)(uintptr_t)o) : json_object();
}

static json_t *sums_json(const struct sums *s)
{
	json_t *tokens = s->cells ? usages_json(&s->used) : usage_json(&s->used.target);
	if (s->tells_paid)
		json_object_set_new(tokens, "incurredTokenUsage", usages_json(&s->paid));
	return json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:f}", "score", s->score, "testPassCount",
	                 (json_int_t)s->passed, "testFailCount", (json_int_t)s->failed, "testErrorCount",
	                 (json_int_t)s->errors, "assertPassCount", (json_int_t)s->checks_passed, "assertFailCount",
	                 (json_int_t)s->checks_failed, "totalLatencyMs", s->latency_ms, "tokenUsage", tokens, "namedScores",
	                 object_or_empty(s->named), "namedScoresCount", object_or_empty(s->named_counts),
	                 "namedScoreWeights", object_or_empty(s->named_weights), "cost", s->cost);
}

int fh_view_filtered_metrics(struct fh_store *s, const struct fh_store_eval *e, const struct fh_store_row_filter *f,
                             json_t **ret, struct fh_error *err)
{
	struct columns columns = { .items = fh_xcalloc(FH_MAX(e->columns, 1), sizeof(*columns.items)),
		                       .count = e->columns };
	int r = fh_store_each_match(s, e->number, f, add_cell, &columns, err);
	json_t *list = json_array();
	for (size_t i = 0; i < columns.count; i++) {
		struct sums *sums = &columns.items[i];
		json_array_append_new(list, sums_json(sums));
		json_decref(sums->named);
		json_decref(sums->named_counts);
		json_decref(sums->named_weights);
	}
	free(columns.items);
	if (r < 0) {
		json_decref(list);
		return r;
	}
	*ret = list;
	return 0;
}
