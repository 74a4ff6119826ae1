/* SPDX-License-Identifier: MIT */
#include "eval/run.h"
#include "eval/common/env.h"
#include "eval/common/text.h"
#include <stdio.h>
#include "base/clock.h"
#include "eval/config/keys.h"
#include "eval/checking/check.h"
#include "eval/memory.h"
#include "eval/render.h"
#include "eval/rendering/transform.h"

/* One cell on its way: config -> vars -> prompt -> response -> output -> grading. */
struct work {
	const struct fh_eval_run *run;
	const struct fh_eval_plan *plan;
	const struct fh_eval_cell *cell;
	const struct fh_eval_row *row;
	const json_t *test; /* the row's test, or the one that the beforeEach hook returned */
	const struct fh_eval_column *column;
	const json_t *options;
	const json_t *planned; /* the options before a beforeEach hook: their prefix and suffix are in the prompt by then */
	struct fh_eval_provider *provider;
	json_t *vars, *output;
	json_t *provider_output; /* the provider's output, before the test's own transform */
	json_t *all_vars;        /* vars, and names such as __evalId that only templates and scripts see */
	bool kept;               /* the answer came from our own cache */
	struct fh_eval_result *ret;
	struct fh_error *err;
};

/* ---------------------------------------------------------------------------------------------------------- hooks */

static int call_before_each(struct work *w)
{
	if (!fh_eval_extensions_want(&w->plan->extensions, FH_HOOK_BEFORE_EACH))
		return 0;
	fh_auto_json json_t *context = json_pack("{s:O}", "test", w->test);
	fh_auto_json json_t *given = NULL;
	int r = fh_eval_extensions_call(&w->plan->extensions, fh_services_scripts(w->run->services), FH_HOOK_BEFORE_EACH,
	                                context, &given, w->err);
	json_t *test = json_object_get(given, "test");
	if (r < 0 || !json_is_object(test))
		return r;
	if (!json_is_object(json_object_get(test, "vars")))
		return fh_error_set(w->err, FH_E_ARGUMENT, "beforeEach gave a test without vars");
	w->ret->test = json_incref(test);
	w->test = test;
	w->options = json_object_get(test, "options");
	return 0;
}

/* Copies named scores and metadata that a hook added into the row. */
static void take_hooked(struct work *w, const json_t *result)
{
	struct fh_eval_result *r = w->ret;
	json_t *scores = json_object_get(result, "namedScores"), *response = json_object_get(result, "response");
	if (json_object_size(scores) > 0) {
		json_decref(r->named_scores);
		r->named_scores = json_incref(scores);
	}
	if (json_is_object(response)) {
		json_decref(r->response);
		r->response = json_incref(response);
	}
	json_object_update(r->metadata, json_object_get(result, "metadata"));
}

/* The result as hooks get it: as rows have it. New reference. */
static json_t *hook_result(const struct work *w)
{
	const struct fh_eval_result *r = w->ret;
	const struct fh_eval_prompt *prompt = w->column->prompt;
	const struct fh_eval_provider *provider = w->column->provider;
	const struct fh_eval_graded graded = fh_eval_graded_of(r->grading);
	json_t *config = r->prompt_config ? r->prompt_config : prompt->config;
	json_t *result =
	    json_pack("{s:b, s:f, s:O?, s:O?, s:O?, s:s*, s:i, s:O?, s:O?}", "success", r->success, "score", r->score,
	              "vars", w->vars, "response", r->response, "gradingResult", r->grading, "error", r->error,
	              "failureReason", (int)r->failure, "namedScores", r->named_scores, "metadata", r->metadata);
	json_t *raw = fh_json_bytes(fh_str(r->prompt)), *label = fh_json_bytes(fh_str(prompt->label));
	json_object_set_new(result, "prompt", json_pack("{s:o, s:o, s:O*}", "raw", raw, "label", label, "config", config));
	json_object_set_new(result, "promptId", json_string(prompt->id));
	json_object_set_new(result, "promptIdx", json_integer(w->cell->column));
	json_object_set_new(result, "testIdx", json_integer(w->cell->row));
	json_object_set_new(result, "provider", json_pack("{s:s, s:s}", "id", provider->id, "label", provider->label));
	json_object_set(result, "testCase", (json_t *)(uintptr_t)w->test);
	json_object_set_new(result, "latencyMs", json_real(r->latency_ms));
	json_object_set_new(result, "cost", json_real(r->cost));
	json_object_set_new(result, "tokenUsage", fh_eval_tokens_json(&r->tokens, r->asked, &graded));
	return result;
}

/* As in promptfoo, a hook that fails leaves the row as it was. */
static int call_after_each(struct work *w)
{
	struct fh_eval_result *r = w->ret;
	if (!fh_eval_extensions_want(&w->plan->extensions, FH_HOOK_AFTER_EACH))
		return 0;
	if (!r->named_scores)
		r->named_scores = json_object(); /* hooks add to it, in promptfoo too */
	fh_auto_json json_t *context = json_pack("{s:O, s:o}", "test", w->test, "result", hook_result(w));
	fh_auto_json json_t *changed = NULL;
	struct fh_error err = FH_ERROR_INIT;
	int code = fh_eval_extensions_call(&w->plan->extensions, fh_services_scripts(w->run->services), FH_HOOK_AFTER_EACH,
	                                   context, &changed, &err);
	if (code == 0)
		take_hooked(w, json_object_get(changed, "result"));
	else if (code != -FH_E_CANCELLED)
		r->hook_problem = fh_xstrdup(err.message);
	return code == -FH_E_CANCELLED ? code : 0;
}

/* --------------------------------------------------------------------------------------------------------- prompt */

static const json_t *conversation_id(const struct work *w)
{
	return json_object_get(json_object_get(w->test, "metadata"), "conversationId");
}

/* Adds the conversation so far to vars, if the prompt (with its prefix and suffix) mentions it. */
static void add_conversation(struct work *w, json_t *vars)
{
	static const char name[] = "_conversation";
	bool asked = strstr(w->column->prompt->raw, name) || strstr(fh_json_str(w->planned, "prefix", ""), name) ||
	             strstr(fh_json_str(w->planned, "suffix", ""), name);
	if (!w->plan->conversation || !asked || json_is_true(json_object_get(w->options, "disableConversationVar")) ||
	    fh_env_on("PROMPTFOO_DISABLE_CONVERSATION_VAR"))
		return;
	json_object_set_new(vars, name, fh_eval_memory_conversation(w->run->memory, w->cell->column, conversation_id(w)));
}

static json_t *step_id(const struct work *w)
{
	fh_auto_buf struct fh_buf id = FH_BUF_INIT(0);
	fh_buf_adds(&id, "test-");
	fh_buf_addi(&id, w->cell->row);
	fh_buf_adds(&id, "-prompt-");
	fh_buf_addi(&id, w->cell->column);
	fh_buf_adds(&id, "-repeat-");
	fh_buf_addi(&id, w->row->repeat);
	return json_stringn_nocheck(id.p, id.n);
}

static int make_prompt(struct work *w)
{
	static const char *const own[] = { "__evalId", "__evalStepId", "__repeatIndex" };
	fh_auto_json json_t *vars = json_copy(json_object_get(w->test, "vars"));
	add_conversation(w, vars);
	fh_eval_memory_add_stored(w->run->memory, vars);
	/* Names that only templates and scripts see. */
	json_object_set_new(vars, "__evalId", json_string(w->run->id));
	json_object_set_new_nocheck(vars, "__evalStepId", step_id(w));
	json_object_set_new(vars, "__repeatIndex", json_integer(w->row->repeat));
	int r = fh_render_vars(w->plan, w->run->services, vars, w->column, &w->all_vars, w->err);
	if (r < 0)
		return r;
	w->vars = json_copy(w->all_vars);
	for (size_t i = 0; i < FH_ARRAY_SIZE(own); i++)
		json_object_del(w->vars, own[i]);
	return fh_render_prompt(w->plan, w->run->services, w->column, w->all_vars, w->planned, &w->ret->prompt,
	                        &w->ret->prompt_config, w->err);
}

/* Keeps this turn of the conversation for the prompts of later cells. */
static void remember(struct work *w)
{
	json_t *output = json_object_get(w->ret->response, "output"), *metadata;
	if (!w->plan->conversation)
		return;
	fh_auto_json json_t *parsed = fh_text_json(fh_str(w->ret->prompt));
	fh_auto_json json_t *prompt = parsed ? json_incref(parsed) : fh_json_bytes(fh_str(w->ret->prompt));
	json_t *last = json_array_get(parsed, json_array_size(parsed) - 1), *content = json_object_get(last, "content");
	json_t *input = content ? content : last ? last : prompt;
	bool none = !output || json_is_null(output) || json_is_false(output);
	json_t *turn = json_pack("{s:O, s:O, s:o}", "prompt", prompt, "input", input, "output",
	                         none ? json_string("") : json_incref(output));
	if ((metadata = json_object_get(w->ret->response, "metadata")))
		json_object_set(turn, "metadata", metadata);
	fh_eval_memory_say(w->run->memory, w->cell->column, conversation_id(w), turn);
}

static void store_output(struct work *w)
{
	const char *name = fh_json_str(w->options, "storeOutputAs", NULL);
	json_t *output = json_object_get(w->ret->response, "output");
	bool none = !output || json_is_null(output) || json_is_false(output) ||
	            (json_is_string(output) && json_string_length(output) == 0);
	if (name && *name && !none)
		fh_eval_memory_store(w->run->memory, name, output);
}

/* -------------------------------------------------------------------------------------------------------- response */

static json_t *response_json(const struct fh_provider_response *r)
{
	json_t *o = json_object();
	json_object_set(o, "output", r->output ? r->output : json_null());
	if (r->error)
		json_object_set_new(o, "error", fh_json_bytes(fh_str(r->error)));
	if (r->raw)
		json_object_set(o, "raw", r->raw);
	if (r->cost >= 0)
		json_object_set_new(o, "cost", json_real(r->cost));
	json_object_set_new(o, "cached", json_boolean(r->cached));
	if (r->tokens.total >= 0)
		json_object_set_new(o, "tokenUsage", fh_eval_tokens_json(&r->tokens, 1, NULL));
	if (r->first_token_ms > 0)
		json_object_set_new(o, "timeToFirstTokenMs", json_real(r->first_token_ms));
	if (r->finish_reason)
		json_object_set_new(o, "finishReason", json_string(r->finish_reason));
	if (r->log_probs)
		json_object_set(o, "logProbs", r->log_probs);
	if (r->metadata)
		json_object_set(o, "metadata", r->metadata);
	if (r->extra)
		json_object_update_missing(o, r->extra);
	return o;
}

/* Takes the answer from the test, when it has one; no provider is asked then. */
static bool given_response(struct work *w)
{
	json_t *given = json_object_get(w->test, "providerOutput");
	if (!given || json_is_null(given) || json_is_false(given) ||
	    (json_is_string(given) && json_string_length(given) == 0))
		return false;
	w->ret->response = json_pack("{s:O, s:i, s:b}", "output", given, "cost", 0, "cached", 0);
	w->ret->tokens = (struct fh_tokens)FH_TOKENS_INIT;
	return true;
}

/* The provider config of this call: what the prompt and the test's options set, without the options that fumehood
 * itself carries out. */
static json_t *call_config(const struct work *w)
{
	json_t *config = json_object();
	json_object_update(config, w->column->prompt->config);
	json_object_update(config, w->ret->prompt_config);
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)w->options, key, v)
	{
		bool own = false;
		for (size_t i = 0; i < fh_eval_keys_options.count && !own; i++)
			own = strcmp(fh_eval_keys_options.items[i].name, key) == 0;
		if (!own)
			json_object_set(config, key, v);
	}
	return config;
}

/* The prompt as scripts see it: its template, not what was made of that for this cell. Not by json_pack, which takes
 * twice as long. New reference. */
static json_t *prompt_json(const struct work *w, json_t *config)
{
	const struct fh_eval_prompt *p = w->column->prompt;
	fh_auto_free char *raw = fh_render_prompt_template(w->plan, p, w->planned);
	json_t *prompt = json_object();
	json_object_set_new_nocheck(prompt, "raw", fh_json_bytes(fh_str(raw)));
	json_object_set_new_nocheck(prompt, "label", fh_json_bytes(fh_str(p->label)));
	if (p->own_id)
		json_object_set_new(prompt, "id", json_string(p->own_id));
	if (config)
		json_object_set_nocheck(prompt, "config", config);
	json_object_set_new_nocheck(prompt, "template", fh_json_bytes(fh_str(p->raw)));
	return prompt;
}

/* What a provider that is a program or a script learns of the call. */
static json_t *call_context(const struct work *w, json_t *config)
{
	json_t *context = json_object();
	json_object_set_nocheck(context, "vars", w->all_vars);
	json_object_set_new_nocheck(context, "prompt", prompt_json(w, config));
	json_t *test = (json_t *)(uintptr_t)w->test;
	if (json_object_get(test, "metadata")) {
		json_object_set_nocheck(context, "test", test);
	} else {
		json_object_set_new_nocheck(context, "test", test = json_copy(test));
		json_object_set_new_nocheck(test, "metadata", json_object());
	}
	json_object_set_new_nocheck(context, "repeatIndex", json_integer(w->row->repeat));
	json_object_set_new_nocheck(context, "testIdx", json_integer(w->cell->row));
	json_object_set_new_nocheck(context, "evaluationId", json_string_nocheck(w->run->id));
	json_object_set_nocheck(context, "originalProvider", w->column->provider->json);
	return context;
}

static int ask(struct work *w)
{
	if (given_response(w))
		return 0;
	uint64_t delay = w->provider->delay_ms ? w->provider->delay_ms : w->plan->delay_ms;
	if (delay > 0)
		fh_sleep_ns((int64_t)delay * FH_NS_PER_MS);
	fh_auto_json json_t *config = call_config(w);
	fh_auto_json json_t *context = call_context(w, config);
	struct fh_provider_request request = { .prompt = fh_str(w->ret->prompt),
		                                   .context = context,
		                                   .config = json_object_size(config) ? config : NULL,
		                                   .repeat = w->row->repeat,
		                                   .original = w->row->provider ? w->column->provider->handle : NULL,
		                                   .original_delay_ms = w->column->provider->delay_ms };
	fh_auto_provider_response struct fh_provider_response response = FH_PROVIDER_RESPONSE_INIT;
	int r = fh_provider_call(w->provider->handle, &request, &response, w->err);
	if (r < 0)
		return r;
	w->ret->asked = true;
	w->ret->response = response_json(&response);
	w->ret->latency_ms = response.latency_ms;
	w->kept = response.kept;
	w->ret->cost = FH_MAX(response.cost, 0);
	w->ret->tokens = response.tokens;
	return 0;
}

/* A transform of the test sees metadata in any case, one of the provider only what the provider gave. */
static int transform_output(struct work *w, const json_t *holder, const char *const *keys, bool of_test)
{
	const char *code = NULL;
	for (; *keys && !code; keys++)
		code = fh_json_str(holder, *keys, NULL);
	if (!code || !*code)
		return 0;
	fh_auto_json json_t *context =
	    json_pack("{s:O, s:o}", "vars", w->vars, "prompt", prompt_json(w, w->column->prompt->config));
	json_t *metadata = json_object_get(w->ret->response, "metadata"), *changed = NULL;
	if (metadata)
		json_object_set(context, "metadata", metadata);
	else if (of_test)
		json_object_set_new(context, "metadata", json_object());
	int r = fh_transform(fh_services_scripts(w->run->services), w->plan->config.dir, code, "output", w->output, context,
	                     &changed, w->err);
	if (r < 0)
		return r;
	json_decref(w->output);
	w->output = changed;
	json_object_set(w->ret->response, "output", changed);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- grading */

static void note_metadata(struct work *w)
{
	json_t *all = json_object();
	json_object_update(all, json_object_get(w->test, "metadata"));
	json_t *given = json_object_get(w->ret->response, "metadata");
	if (json_is_object(given))
		json_object_update(all, given);
	w->ret->metadata = all;
}

static int grade(struct work *w)
{
	struct fh_eval_result *ret = w->ret;
	struct fh_check check = { .plan = w->plan,
		                      .services = w->run->services,
		                      .graders = w->run->graders,
		                      .test = w->test,
		                      .vars = w->vars,
		                      .provider = w->provider->json,
		                      .response = ret->response,
		                      .output = w->output,
		                      .provider_output = w->provider_output,
		                      .prompt = ret->prompt,
		                      .latency_ms = ret->latency_ms,
		                      .kept = w->kept };
	int r = fh_check_all(&check, &ret->grading, w->err);
	if (r < 0)
		return r;
	ret->success = json_is_true(json_object_get(ret->grading, "pass"));
	ret->score = fh_json_num(ret->grading, "score", 0);
	ret->named_scores = json_incref(json_object_get(ret->grading, "namedScores"));
	if (!ret->success) {
		ret->failure = FH_FAILURE_ASSERTION;
		ret->error = fh_xstrdup(fh_json_str(ret->grading, "reason", ""));
	}
	return 0;
}

static int judge(struct work *w)
{
	static const char *const of_provider[] = { "transform", NULL };
	static const char *const of_test[] = { "transform", "postprocess", NULL };
	struct fh_eval_result *ret = w->ret;
	const char *error = fh_json_str(ret->response, "error", NULL);
	w->output = json_incref(json_object_get(ret->response, "output"));
	if (error) {
		ret->error = fh_xstrdup(error);
		ret->failure = FH_FAILURE_ERROR;
		return 0;
	}
	if (!w->output || json_is_null(w->output)) {
		ret->error = fh_xstrdup("No output");
		return 0;
	}
	/* As in promptfoo the column's transform also holds for a test's own provider, unless that has one of its own. */
	const json_t *own = w->provider->entry;
	int r =
	    transform_output(w, json_object_get(own, "transform") ? own : w->column->provider->entry, of_provider, false);
	w->provider_output = json_incref(w->output);
	if (r == 0)
		r = transform_output(w, w->options, of_test, true);
	return r < 0 ? r : grade(w);
}

/* Makes the result that of a row that is an error. */
static void fail(struct work *w)
{
	struct fh_eval_result *r = w->ret;
	/* As in promptfoo, a row that could not be graded keeps no partial grade, and its answer only when a model was to
	 * grade it. */
	json_decref(r->grading);
	r->grading = NULL;
	if (!fh_check_is_graded(w->test)) {
		json_decref(r->response);
		r->response = NULL;
	}
	free(r->error);
	r->error = fh_xasprintf("Error: %s", w->err->message);
	r->failure = FH_FAILURE_ERROR;
	r->success = false;
	r->score = r->cost = 0;
}

static int run_steps(struct work *w)
{
	int r = make_prompt(w);
	if (r == 0)
		r = ask(w);
	if (r == 0)
		remember(w);
	if (r == 0)
		r = judge(w);
	if (r == 0)
		store_output(w);
	return r;
}

int fh_eval_cell_run(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *ret)
{
	const struct fh_eval_plan *plan = run->plan;
	struct fh_eval_result result = { .tokens = FH_TOKENS_INIT };
	struct fh_error err = FH_ERROR_INIT;
	struct work w = { .run = run,
		              .plan = plan,
		              .cell = cell,
		              .row = &plan->rows[cell->row],
		              .column = &plan->columns[cell->column],
		              .ret = &result,
		              .err = &err };
	w.provider = w.row->provider ? w.row->provider : w.column->provider;
	w.test = w.row->test;
	w.options = w.planned = json_object_get(w.test, "options");
	const char *fault = json_string_value(w.row->fault);
	int r = fault ? fh_error_set(&err, FH_E_ARGUMENT, "%s", fault) : call_before_each(&w);
	bool begun = r == 0;
	if (begun)
		r = run_steps(&w);
	bool cancelled = r == -FH_E_CANCELLED || (r < 0 && run->cancel && *run->cancel);
	if (r < 0 && !cancelled)
		fail(&w);
	if (!result.prompt)
		result.prompt = fh_xstrdup("");
	if (!cancelled) {
		note_metadata(&w);
		cancelled = begun && call_after_each(&w) == -FH_E_CANCELLED;
	}
	json_decref(w.vars);
	json_decref(w.all_vars);
	json_decref(w.output);
	json_decref(w.provider_output);
	if (cancelled) {
		fh_eval_result_release(&result);
		return -FH_E_CANCELLED;
	}
	*ret = result;
	return 0;
}

void fh_eval_cell_recall(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *result)
{
	const struct fh_eval_plan *plan = run->plan;
	struct work w = { .run = run,
		              .plan = plan,
		              .cell = cell,
		              .row = &plan->rows[cell->row],
		              .column = &plan->columns[cell->column],
		              .test = plan->rows[cell->row].test,
		              .ret = result };
	w.options = w.planned = json_object_get(w.test, "options");
	if (!result->response)
		return;
	remember(&w);
	store_output(&w);
}
