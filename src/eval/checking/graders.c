/* SPDX-License-Identifier: MIT */
#include "eval/checking/graders.h"

#include <pthread.h>

#include "eval/grading/assertion.h"

#define NESTED_MAX 8

struct grader {
	json_t *entry;
	struct fh_provider *handle; /* opened for this grader; NULL while `shared` is used */
	struct fh_provider *shared; /* a provider of the config, which owns it */
};

struct fh_graders {
	const struct fh_eval_plan *plan;
	pthread_mutex_t lock; /* guards the list of graders */
	struct grader **items;
	size_t count, capacity;
};

struct fh_graders *fh_graders_new(const struct fh_eval_plan *plan)
{
	struct fh_graders *g = FH_NEW(struct fh_graders);
	g->plan = plan;
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void fh_graders_free(struct fh_graders *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->count; i++) {
		fh_provider_free(g->items[i]->handle);
		json_decref(g->items[i]->entry);
		free(g->items[i]);
	}
	free(g->items);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static const char *const kinds[FH_PROVIDER_OPERATION_COUNT_] = { "text", "embedding", "classification", "moderation" };

/* The member of {text: …, embedding: …} for an operation. NULL: there is no such member. */
static const json_t *by_kind(const json_t *entry, enum fh_provider_operation operation)
{
	for (unsigned depth = 0; depth < NESTED_MAX && json_is_object(entry) && !json_object_get(entry, "id"); depth++) {
		bool typed = false;
		for (size_t i = 0; i < FH_ARRAY_SIZE(kinds); i++)
			typed = typed || json_object_get(entry, kinds[i]);
		if (!typed)
			return entry;
		entry = json_object_get(entry, kinds[operation]);
	}
	return entry;
}

static const json_t *entry_of(const struct fh_eval_plan *plan, const struct fh_grader_request *q)
{
	const json_t *const candidates[] = {
		json_object_get(q->assertion, "provider"),
		json_object_get(json_object_get(q->test, "options"), "provider"),
		json_object_get(plan->default_test, "provider"),
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(candidates); i++) {
		const json_t *entry =
		    candidates[i] && !json_is_null(candidates[i]) ? by_kind(candidates[i], q->operation) : NULL;
		if (entry && !json_is_null(entry))
			return entry;
	}
	return NULL;
}

/* The provider for an assertion whose config names no grader. */
static json_t *usual_entry(const struct fh_grader_request *q, struct fh_error *err)
{
	static const char *const usual[FH_PROVIDER_OPERATION_COUNT_] = { "openai:chat:gpt-4.1",
		                                                             "openai:embedding:text-embedding-3-large", NULL,
		                                                             "openai:moderation:omni-moderation-latest" };
	const char *key = getenv("OPENAI_API_KEY");
	if (usual[q->operation] && key && *key)
		return json_pack("{s:s}", "id", usual[q->operation]);
	fh_error_set(err, FH_E_ARGUMENT, "\"%s\" needs a%s %s provider to grade, and none is given", q->what,
	             strchr("aeiou", kinds[q->operation][0]) ? "n" : "", kinds[q->operation]);
	if (q->operation == FH_PROVIDER_ANSWER)
		fh_error_hint(err, "set defaultTest: {options: {provider: ID}}, or --grader ID");
	else
		fh_error_hint(err, "set defaultTest: {options: {provider: {%s: ID}}}", kinds[q->operation]);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------ before the eval */

static unsigned asked_by(const char *type)
{
	const struct fh_assertion *kind = fh_assertion_find(fh_starts_with(type, "not-") ? type + 4 : type);
	return kind ? kind->asks : fh_streq(type, "select-best") ? 1 << FH_PROVIDER_ANSWER : 0;
}

/* Whether an assertion of the list has no grader for the operation; `err` says so of the first one. */
static bool list_lacks(const struct fh_eval_plan *plan, const json_t *test, const json_t *list,
                       enum fh_provider_operation operation, struct fh_error *err)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *assertion = json_array_get(list, i);
		const char *type = fh_json_str(assertion, "type", "");
		const struct fh_grader_request q = {
			.operation = operation, .what = type, .assertion = assertion, .test = test
		};
		if (list_lacks(plan, test, json_object_get(assertion, "assert"), operation, err))
			return true;
		if (!(asked_by(type) >> operation & 1) || entry_of(plan, &q))
			continue;
		fh_auto_json json_t *usual = usual_entry(&q, err);
		if (!usual)
			return true;
	}
	return false;
}

/* One warning for each operation, at the first row that lacks a grader for it. */
static void warn(struct fh_eval_plan *plan, enum fh_provider_operation operation)
{
	struct fh_error first = FH_ERROR_INIT;
	const struct fh_eval_row *row = NULL;
	size_t lacking = 0, before = plan->config.warning_count;
	for (size_t i = 0; i < plan->row_count; i++) {
		struct fh_error err = FH_ERROR_INIT;
		const json_t *test = plan->rows[i].test;
		if (!list_lacks(plan, test, json_object_get(test, "assert"), operation, &err) || lacking++ > 0)
			continue;
		row = &plan->rows[i];
		first = err;
	}
	if (!row)
		return;
	fh_eval_config_warn(&plan->config, row->document, row->place, "%s: this makes %zu of %zu tests errors",
	                    first.message, lacking, plan->row_count);
	if (plan->config.warning_count > before)
		fh_error_hint(&plan->config.warnings[before].error, "%s", first.hint);
}

/* The operations that the assertions of a list ask a grader for, as bits. */
static unsigned asked_by_list(const json_t *list)
{
	unsigned asked = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *assertion = json_array_get(list, i);
		asked |= asked_by(fh_json_str(assertion, "type", "")) | asked_by_list(json_object_get(assertion, "assert"));
	}
	return asked;
}

void fh_graders_warn(struct fh_eval_plan *plan)
{
	unsigned asked = 0;
	for (size_t i = 0; i < plan->row_count; i++)
		asked |= asked_by_list(json_object_get(plan->rows[i].test, "assert"));
	for (enum fh_provider_operation o = 0; o < FH_PROVIDER_OPERATION_COUNT_; o++)
		if (asked >> o & 1)
			warn(plan, o);
}

/* -------------------------------------------------------------------------------------------------------- calling */

static struct fh_provider *of_config(const struct fh_graders *g, const json_t *entry)
{
	const char *name = json_string_value(entry);
	for (size_t i = 0; name && i < g->plan->providers.count; i++) {
		const struct fh_eval_provider *p = g->plan->providers.items[i];
		if (strcmp(p->id, name) == 0 || strcmp(p->written, name) == 0 || strcmp(p->label, name) == 0)
			return p->handle;
	}
	return NULL;
}

static int open_entry(const struct fh_graders *g, const json_t *entry, bool look_only, struct fh_provider **ret,
                      struct fh_error *err)
{
	const struct fh_eval_plan *p = g->plan;
	fh_auto_json json_t *normal = fh_eval_provider_entry(entry);
	const char *id = fh_json_str(normal, "id", NULL);
	if (!id)
		return fh_error_set(err, FH_E_ARGUMENT, "a grader is a provider's id, or an object with an \"id\"");
	fh_auto_json json_t *env = json_object();
	json_object_update(env, json_object_get(p->config.root, "env"));
	json_object_update(env, json_object_get(normal, "env"));
	struct fh_provider_options options = { .id = id,
		                                   .label = fh_json_str(normal, "label", NULL),
		                                   .config = json_object_get(normal, "config"),
		                                   .base_dir = p->config.dir,
		                                   .env = env,
		                                   .scripts = p->needs.scripts,
		                                   .replay = p->needs.replay,
		                                   .cancel = p->needs.cancel,
		                                   .timeout_ms = p->needs.timeout_ms,
		                                   .look_only = look_only };
	return fh_provider_open(&options, ret, err);
}

int fh_graders_check(const struct fh_eval_plan *plan, const char *id, struct fh_error *err)
{
	const struct fh_graders g = { .plan = plan };
	fh_auto_json json_t *entry = json_string(id);
	fh_auto_provider struct fh_provider *provider = NULL;
	if (of_config(&g, entry))
		return 0;
	int r = open_entry(&g, entry, true, &provider, err);
	return r < 0 ? fh_error_wrap(err, "--grader %s", id) : 0;
}

static int find(struct fh_graders *g, const json_t *entry, struct fh_provider **ret, struct fh_error *err)
{
	for (size_t i = 0; i < g->count; i++)
		if (json_equal(g->items[i]->entry, entry)) {
			*ret = g->items[i]->handle ? g->items[i]->handle : g->items[i]->shared;
			return 0;
		}
	struct fh_provider *shared = of_config(g, entry), *own = NULL;
	int r = shared ? 0 : open_entry(g, entry, false, &own, err);
	if (r < 0)
		return r;
	struct grader *item = FH_NEW(struct grader);
	*item = (struct grader){ json_deep_copy(entry), own, shared };
	FH_PUSH(g->items, g->count, g->capacity) = item;
	*ret = own ? own : shared;
	return 0;
}

static void add_tokens(json_t *tokens, const struct fh_tokens *t)
{
	const struct {
		const char *name;
		int64_t n;
	} counts[] = { { "total", t->total >= 0 ? t->total : FH_MAX(t->prompt, 0) + FH_MAX(t->completion, 0) },
		           { "prompt", t->prompt },
		           { "completion", t->completion },
		           { "cached", t->cached },
		           { "numRequests", 1 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(counts); i++)
		json_object_set_new(tokens, counts[i].name,
		                    json_integer(fh_json_int(tokens, counts[i].name, 0) + FH_MAX(counts[i].n, 0)));
}

int fh_graders_call(struct fh_graders *g, const struct fh_grader_request *q, struct fh_provider_response *ret,
                    json_t *tokens, struct fh_error *err)
{
	fh_auto_json json_t *usual = NULL;
	const json_t *entry = g ? entry_of(g->plan, q) : NULL;
	struct fh_provider *provider = NULL;
	if (!g || (!entry && !(entry = usual = usual_entry(q, err))))
		return g ? -FH_E_ARGUMENT : fh_error_set(err, FH_E_ARGUMENT, "there are no graders here");
	pthread_mutex_lock(&g->lock);
	int r = find(g, entry, &provider, err);
	pthread_mutex_unlock(&g->lock);
	if (r < 0)
		return r;
	fh_auto_json json_t *context =
	    json_pack("{s:O?, s:{s:o, s:s}}", "vars", q->vars, "prompt", "raw", fh_json_bytes(q->prompt), "label", q->what);
	struct fh_provider_request request = { .operation = q->operation, .prompt = q->prompt, .context = context };
	fh_auto_provider_response struct fh_provider_response response = FH_PROVIDER_RESPONSE_INIT;
	r = fh_provider_call(provider, &request, &response, err);
	if (r < 0)
		return r;
	if (tokens)
		add_tokens(tokens, &response.tokens);
	if (response.error)
		return fh_error_set(err, FH_E_ARGUMENT, "the grader %s of \"%s\" failed: %s", fh_provider_id(provider), q->what,
		                    response.error);
	if (!response.output || json_is_null(response.output) ||
	    (json_is_string(response.output) && json_string_length(response.output) == 0))
		return fh_error_set(err, FH_E_ARGUMENT, "the grader %s of \"%s\" gave no answer", fh_provider_id(provider),
		                    q->what);
	*ret = response;
	response = (struct fh_provider_response)FH_PROVIDER_RESPONSE_INIT;
	return 0;
}
