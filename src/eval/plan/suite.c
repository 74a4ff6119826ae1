/* SPDX-License-Identifier: MIT */
#include "eval/plan/plan.h"
#include "eval/common/text.h"
#include "eval/config/keys.h"

static json_t *prompts_json(const struct fh_eval_plan *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->prompts.count; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s}", "raw", p->prompts.items[i].raw, "label", p->prompts.items[i].label));
	return list;
}

json_t *fh_eval_plan_suite(const struct fh_eval_plan *p)
{
	static const char *const as_written[] = { "description", "tags", "extensions", "nunjucksFilters", "tracing" };
	json_t *suite = json_object(), *providers = json_array(), *tests = json_array();
	for (size_t i = 0; i < FH_ARRAY_SIZE(as_written); i++)
		json_object_set(suite, as_written[i], json_object_get(p->config.root, as_written[i]));
	for (size_t i = 0; i < p->provider_columns; i++)
		json_array_append(providers, p->providers.items[i]->json);
	for (size_t i = 0; i < p->tests.count; i++)
		json_array_append(tests, p->tests.items[i].json);
	json_object_set_new(suite, "prompts", prompts_json(p));
	json_object_set_new(suite, "providers", providers);
	json_object_set_new(suite, "tests", tests);
	if (p->scenarios.any)
		json_object_set_new(suite, "scenarios", fh_eval_scenarios_json(&p->scenarios));
	json_object_set(suite, "derivedMetrics", p->derived);
	/* As in promptfoo, hooks may append to the assertions of defaultTest, whether the config has any or not. */
	json_t *default_test = p->default_test ? json_copy(p->default_test) : json_object();
	if (!json_object_get(default_test, "assert"))
		json_object_set_new(default_test, "assert", json_array());
	json_object_set_new(suite, "defaultTest", default_test);
	return suite;
}

static int take_derived(struct fh_eval_plan *p, json_t *derived, struct fh_error *err)
{
	for (size_t i = 0; i < json_array_size(derived); i++) {
		int r = fh_eval_keys_check(&p->config, p->config.document, json_array_get(derived, i), "extensions",
		                           &fh_eval_keys_derived, err);
		if (r < 0)
			return r;
	}
	json_decref(p->derived);
	p->derived = json_incref(derived);
	return 0;
}

static int take_default_test(struct fh_eval_plan *p, json_t *test, struct fh_error *err)
{
	int r = fh_eval_test_validate(&p->config, p->config.document, test, "extensions", err);
	json_decref(p->default_test);
	p->default_test = json_incref(test);
	return r;
}

/* Takes over what hooks made of the suite. */
static int take_suite(struct fh_eval_plan *p, const json_t *suite, struct fh_script_pool *scripts, struct fh_error *err)
{
	json_t *prompts = json_object_get(suite, "prompts"), *tests = json_object_get(suite, "tests");
	json_t *scenarios = json_object_get(suite, "scenarios"), *derived = json_object_get(suite, "derivedMetrics");
	json_t *default_test = json_object_get(suite, "defaultTest");
	int r = 0;
	if (json_is_array(prompts))
		r = fh_eval_prompts_replace(&p->config, prompts, "extensions", &p->prompts, err);
	if (r == 0 && json_is_array(tests))
		r = fh_eval_tests_replace(&p->config, tests, "tests of beforeAll", scripts, &p->tests, err);
	if (r == 0 && json_is_array(scenarios))
		r = fh_eval_scenarios_replace(&p->config, scenarios, scripts, &p->scenarios, err);
	if (r == 0 && json_is_array(derived))
		r = take_derived(p, derived, err);
	if (r == 0 && json_is_object(default_test))
		r = take_default_test(p, default_test, err);
	return r;
}

int fh_eval_plan_before_all(struct fh_eval_plan *p, struct fh_script_pool *scripts, struct fh_error *err)
{
	if (!fh_eval_extensions_want(&p->extensions, FH_HOOK_BEFORE_ALL))
		return 0;
	fh_auto_json json_t *context = json_pack("{s:o}", "suite", fh_eval_plan_suite(p));
	fh_auto_json json_t *given = NULL;
	int r = fh_eval_extensions_call(&p->extensions, scripts, FH_HOOK_BEFORE_ALL, context, &given, err);
	if (r < 0)
		return fh_document_place(p->config.document, "extensions", err);
	return given == context ? 0 : take_suite(p, json_object_get(given, "suite"), scripts, err);
}

int fh_eval_plan_call_derived(const void *context, const char *reference, const json_t *names, double *ret,
                              struct fh_error *err)
{
	const struct fh_eval_plan *plan = context;
	fh_auto_free char *path = NULL, *function = NULL;
	enum fh_script_language language;
	fh_text_split_file(reference + strlen("file://"), plan->config.dir, &path, &function);
	if (!plan->needs.scripts || !fh_script_language_of(path, &language) || language != FH_SCRIPT_JAVASCRIPT)
		return fh_error_set(err, FH_E_CONFIG, "%.200s is not a function in JavaScript that can be called", reference);
	fh_auto_json json_t *args = json_pack("[O, {}]", names);
	fh_auto_script_result struct fh_script_result result = { 0 };
	struct fh_script_call call = { .language = language, .file = path, .function = function, .args = args };
	int r = fh_script_call(plan->needs.scripts, &call, &result, err);
	if (r < 0)
		return r;
	if (result.outcome != FH_SCRIPT_RETURNED)
		return fh_error_set(err, FH_E_CONFIG, "%s", result.error_message);
	if (!json_is_number(result.value))
		return fh_error_set(err, FH_E_CONFIG, "the function gave %s, not a number", result.type);
	*ret = json_number_value(result.value);
	return 0;
}
