/* SPDX-License-Identifier: MIT */
#include "eval/plan/plan.h"
#include "base/path.h"
#include "eval/common/env.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"
#include "eval/plan/unknown.h"
#include "eval/services/services.h"
#include "eval/plan/selection.h"
#include "eval/rendering/transform.h"
#include "eval/common/uuid.h"

#define CONCURRENCY_MAX 512
#define REPEAT_MAX 100000
#define DELAY_MAX ((uint64_t)86400000)
#define TIME_MAX ((uint64_t)31536000000) /* a year */

/* ------------------------------------------------------------------------------------------------------------ rows */

static void note_vars(struct fh_eval_plan *p, const json_t *vars)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)vars, key, v)
	{
		bool known = false;
		for (size_t i = 0; i < p->var_count && !known; i++)
			known = strcmp(p->vars[i], key) == 0;
		if (!known)
			FH_PUSH(p->vars, p->var_count, p->var_capacity) = fh_xstrdup(key);
	}
}

static int add_cells(struct fh_eval_plan *p, const json_t *test, uint32_t row, const struct fh_eval_test *t,
                     struct fh_error *err)
{
	const json_t *prompts = json_object_get(test, "prompts"), *providers = json_object_get(test, "providers");
	for (size_t i = 0; i < p->column_count; i++) {
		const struct fh_eval_column *c = &p->columns[i];
		if (!fh_eval_selection_has(prompts, c->prompt->own_id ? c->prompt->own_id : "", c->prompt->label) ||
		    !fh_eval_selection_has_provider(providers, c->provider))
			continue;
		if (p->cell_count >= FH_EVAL_CELLS_MAX)
			return fh_document_error(t->document, t->place, err, "more than %d tests in all", FH_EVAL_CELLS_MAX);
		FH_PUSH(p->cells, p->cell_count, p->cell_capacity) = (struct fh_eval_cell){ row, (uint32_t)i };
	}
	return 0;
}

static bool expands(const json_t *test)
{
	if (fh_env_on("PROMPTFOO_DISABLE_VAR_EXPANSION"))
		return false;
	return !json_is_true(json_object_get(json_object_get(test, "options"), "disableVarExpansion"));
}

/* Adds a test's rows for one repeat. `task` is the number of its first combination. */
static int add_rows(struct fh_eval_plan *p, const struct fh_eval_test *t, json_t *merged, json_t *fault,
                    uint32_t repeat, size_t task, struct fh_eval_provider *provider, struct fh_error *err)
{
	json_t *vars = json_object_get(merged, "vars");
	fh_auto_json json_t *combinations = NULL;
	if (!expands(merged))
		combinations = json_pack("[O]", vars);
	else if (fh_eval_vars_expand(&p->config, vars, &combinations, err) < 0)
		return fh_document_place(t->document, t->place, err);
	for (size_t i = 0; i < json_array_size(combinations); i++) {
		json_t *combination = json_array_get(combinations, i), *test = merged;
		if (combination == vars) { /* nothing was expanded: all repeats share the test */
			json_incref(test);
		} else {
			test = json_copy(merged);
			json_object_set(test, "vars", combination);
		}
		struct fh_eval_row *row = &FH_PUSH(p->rows, p->row_count, p->row_capacity);
		*row = (struct fh_eval_row){ .test = test,
			                         .fault = json_incref(fault),
			                         .repeat = repeat,
			                         .task = (uint32_t)(task + i),
			                         .serial =
			                             json_is_true(json_object_get(json_object_get(test, "options"), "runSerially")),
			                         .document = t->document,
			                         .place = t->place,
			                         .provider = provider };
		p->task_count = FH_MAX(p->task_count, task + i + 1);
		int r = add_cells(p, test, (uint32_t)(p->row_count - 1), t, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static uint32_t repeats_of(const struct fh_eval_plan *p, const json_t *merged)
{
	double own = fh_json_num(json_object_get(merged, "options"), "repeat", 0);
	return own >= 1 && own <= REPEAT_MAX ? (uint32_t)own : p->repeat;
}

/* Runs transformVars on the variables of a test; those that it returns are added to them or replace them. *ret_fault:
 * what went wrong in the user's function, which costs the rows of the test and not the eval. */
static int transform_vars(struct fh_eval_plan *p, const struct fh_eval_provider_needs *needs,
                          const struct fh_eval_test *t, json_t *merged, json_t **ret_fault, struct fh_error *err)
{
	const char *code = fh_json_str(json_object_get(merged, "options"), "transformVars", NULL);
	json_t *vars = json_object_get(merged, "vars"), *changed = NULL;
	if (!code || !*code)
		return 0;
	fh_auto_json json_t *context = json_pack("{s:{}, s:o}", "prompt", "uuid", fh_eval_uuid());
	struct fh_error why = FH_ERROR_INIT;
	int r = fh_transform(needs->scripts, p->config.dir, code, "vars", vars, context, &changed, &why);
	if (r == -FH_E_CANCELLED)
		return fh_error_set(err, FH_E_CANCELLED, "%s", why.message);
	if (r < 0) {
		*ret_fault = fh_json_bytes(fh_str(why.message));
		return 0;
	}
	if (json_is_object(changed)) {
		json_t *both = json_copy(vars);
		json_object_update(both, changed);
		json_object_set_new(merged, "vars", both);
	} else {
		r = fh_document_error(t->document, t->place, err, "transformVars must return an object");
	}
	json_decref(changed);
	return r;
}

static int make_test_rows(struct fh_eval_plan *p, const struct fh_eval_overrides *o,
                          const struct fh_eval_provider_needs *needs, const struct fh_eval_test *t,
                          struct fh_error *err)
{
	fh_auto_json json_t *merged = fh_eval_test_merge(t->json, p->default_test, o->vars);
	struct fh_eval_provider *provider = NULL;
	fh_auto_json json_t *fault = NULL;
	int r = transform_vars(p, needs, t, merged, &fault, err);
	/* As in promptfoo, the id alone in defaultTest names the grader; an object answers the tests. */
	const json_t *own = json_object_get(t->json, "provider"), *usual = json_object_get(p->default_test, "provider");
	fh_auto_json json_t *entry = fh_eval_providers_own_entry(&p->providers,
	                                                         own && !json_is_null(own) ? own
	                                                         : json_is_string(usual)   ? NULL
	                                                                                   : usual,
	                                                         merged);
	note_vars(p, json_object_get(merged, "vars"));
	if (r == 0)
		r = fh_eval_selection_check(t, merged, &p->prompts, &p->providers, p->provider_columns, err);
	if (r == 0 && entry)
		r = fh_eval_providers_add(&p->config, t->document, entry, t->place, needs, &p->providers, &provider, err);
	uint32_t repeats = repeats_of(p, merged);
	size_t task = p->task_count;
	for (uint32_t repeat = 0; repeat < repeats && r == 0; repeat++)
		r = add_rows(p, t, merged, fault, repeat, task, provider, err);
	const char *stored = fh_json_str(json_object_get(merged, "options"), "storeOutputAs", NULL);
	if (stored && *stored)
		p->concurrency = 1; /* later tests use outputs of earlier ones */
	return r;
}

static int make_rows(struct fh_eval_plan *p, const struct fh_eval_overrides *o,
                     const struct fh_eval_provider_needs *needs, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < p->tests.count && r == 0; i++) {
		struct fh_eval_test *t = &p->tests.items[i];
		r = make_test_rows(p, o, needs, t, err);
		/* Rows share what a test holds; the rest of it is let go at once. */
		json_decref(t->json);
		t->json = NULL;
	}
	return r;
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Puts the config's `metadata` and the command line's prefix, suffix and grader below the values of defaultTest. */
static void add_below_default(struct fh_eval_plan *p, const struct fh_eval_overrides *o)
{
	json_t *metadata = json_object_get(p->config.root, "metadata");
	json_t *below = json_object(), *options = json_object();
	if (json_is_object(metadata) && json_object_size(metadata) > 0)
		json_object_set(below, "metadata", metadata);
	if (*p->prompt_prefix)
		json_object_set_new(options, "prefix", fh_json_bytes(fh_str(p->prompt_prefix)));
	if (*p->prompt_suffix)
		json_object_set_new(options, "suffix", fh_json_bytes(fh_str(p->prompt_suffix)));
	json_object_update(below, p->default_test);
	json_object_update(options, json_object_get(p->default_test, "options"));
	if (o->grader) /* the command line overrides the config */
		json_object_set_new(options, "provider", json_string(o->grader));
	if (json_object_size(options) > 0)
		json_object_set(below, "options", options);
	json_decref(options);
	json_decref(p->default_test);
	p->default_test = below;
}

static int load_default_test(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_error *err)
{
	const struct fh_document *d = p->config.document;
	const json_t *spec = json_object_get(p->config.root, "defaultTest");
	const char *place = "defaultTest", *text = json_string_value(spec);
	int r = 0;
	if (text) {
		FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
		struct fh_document *loaded = NULL;
		if (fh_eval_config_paths(&p->config, text, &paths, err) < 0)
			return fh_document_place(d, place, err);
		r = fh_eval_config_document(&p->config, paths.items[0], &loaded, err);
		if (r < 0)
			return r;
		d = loaded;
		spec = loaded->root;
		place = "";
	}
	if (spec && !json_is_null(spec)) {
		r = fh_eval_test_load_vars(&p->config, d, spec, place, &p->default_test, err);
		if (r == 0)
			r = fh_eval_test_validate(&p->config, d, p->default_test, place, err);
	}
	if (r == 0)
		add_below_default(p, o);
	return r;
}

/* A whole number under evaluateOptions or commandLineOptions; `fallback` when neither has it. */
static int option(struct fh_eval_plan *p, const char *name, uint64_t given, uint64_t absent, uint64_t fallback,
                  uint64_t min, uint64_t max, uint64_t *ret, struct fh_error *err)
{
	static const char *const sections[] = { "commandLineOptions", "evaluateOptions" };
	if (given != absent) {
		if (given < min || given > max)
			return fh_error_set(err, FH_E_ARGUMENT, "%s must be %llu to %llu", name, (unsigned long long)min,
			                    (unsigned long long)max);
		*ret = given;
		return 0;
	}
	*ret = fallback;
	for (size_t i = 0; i < FH_ARRAY_SIZE(sections); i++) {
		const json_t *v = json_object_get(json_object_get(p->config.root, sections[i]), name);
		double n = json_number_value(v);
		if (!v || json_is_null(v))
			continue;
		if (json_is_number(v) && n >= (double)min && n <= (double)max) {
			*ret = (uint64_t)n;
			return 0;
		}
		fh_auto_free char *place = fh_xasprintf("%s/%s", sections[i], name);
		return fh_document_error(p->config.document, place, err, "\"%s\" must be a number of %llu to %llu", name,
		                         (unsigned long long)min, (unsigned long long)max);
	}
	return 0;
}

static int load_options(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_error *err)
{
	uint64_t concurrency = 0, repeat = 0, delay = 0, time = 0;
	int r = option(p, "maxConcurrency", o->concurrency, 0, FH_EVAL_CONCURRENCY_DEFAULT, 1, CONCURRENCY_MAX,
	               &concurrency, err);
	if (r == 0)
		r = option(p, "repeat", o->repeat, 0, 1, 1, REPEAT_MAX, &repeat, err);
	if (r == 0)
		r = fh_env_number("PROMPTFOO_DELAY_MS", DELAY_MAX, &delay, err);
	if (r == 0)
		r = option(p, "delay", o->delay_ms, UINT64_MAX, delay, 0, DELAY_MAX, &p->delay_ms, err);
	if (r == 0)
		r = fh_env_number("PROMPTFOO_MAX_EVAL_TIME_MS", TIME_MAX, &time, err);
	if (r == 0)
		r = option(p, "maxEvalTimeMs", UINT64_MAX, UINT64_MAX, time, 0, TIME_MAX, &p->time_ms, err);
	p->concurrency = p->delay_ms > 0 ? 1 : (unsigned)concurrency;
	p->repeat = (uint32_t)repeat;
	return r;
}

/* ----------------------------------------------------------------------------------------------------------- tests */

/* --model-outputs with --assertions: makes a test of each output, and no provider is called. */
static void tests_of_outputs(struct fh_eval_plan *p, const struct fh_eval_overrides *o)
{
	for (size_t i = 0; i < json_array_size(o->model_outputs); i++) {
		json_t *entry = json_array_get(o->model_outputs, i), *output = json_object_get(entry, "output");
		json_t *vars = json_pack("{s:O}", "output", output ? output : entry), *tags = json_object_get(entry, "tags");
		struct fh_buf text = FH_BUF_INIT(0);
		for (size_t j = 0; j < json_array_size(tags); j++)
			fh_buf_addf(&text, "%s%s", j ? ", " : "", json_string_value(json_array_get(tags, j)));
		if (json_is_array(tags))
			json_object_set_new(vars, "tags", fh_json_bytes(fh_buf_str(&text)));
		fh_buf_release(&text);
		fh_eval_tests_add(&p->tests, p->config.document, json_pack("{s:o, s:O}", "vars", vars, "assert", o->assertions),
		                  "");
	}
}

static int load_tests(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_script_pool *scripts,
                      struct fh_error *err)
{
	struct fh_eval_config *c = &p->config;
	if (o->model_outputs) {
		tests_of_outputs(p, o);
		return fh_eval_assertions_validate(c, o->assertions_document, o->assertions, "", err);
	}
	if (o->tests)
		return fh_eval_tests_load(c, c->document, o->tests, "tests", scripts, &p->tests, err);
	int r = 0;
	for (size_t i = 0; i < c->part_count && r == 0; i++)
		r = fh_eval_tests_load(c, c->parts[i], json_object_get(c->parts[i]->root, "tests"), "tests", scripts, &p->tests,
		                       err);
	return r;
}

static const char *option_text(const struct fh_eval_plan *p, const char *name, bool evaluate_too)
{
	const char *text = fh_json_str(json_object_get(p->config.root, "commandLineOptions"), name, NULL);
	return text || !evaluate_too ? text : fh_json_str(json_object_get(p->config.root, "evaluateOptions"), name, NULL);
}

/* Loads the tests and the scenarios, applies the filters to both, and calls the hooks, which may change them. The tests
 * of scenarios come last; a range counts all together. If there are neither tests nor scenarios, there is one empty
 * test. */
static int make_tests(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_script_pool *scripts,
                      struct fh_error *err)
{
	struct fh_eval_filter filter = o->filter;
	filter.range = filter.range ? filter.range : option_text(p, "filterRange", true);
	const json_t *line = json_object_get(p->config.root, "commandLineOptions"), *seed = NULL;
	fh_auto_free char *seed_text = NULL;
	if (filter.sample == UINT64_MAX && json_is_number(json_object_get(line, "filterSample")))
		filter.sample = (uint64_t)FH_MAX(fh_json_num(line, "filterSample", 0), 0);
	if (!filter.sample_seed && (seed = json_object_get(line, "filterSampleSeed")))
		filter.sample_seed = seed_text = fh_text_of_json(seed);
	int r = load_tests(p, o, scripts, err);
	if (r == 0)
		r = fh_eval_scenarios_load(&p->config, p->default_test, &filter, scripts, &p->scenarios, err);
	bool given = p->tests.count > 0, scenarios = p->scenarios.any, filtered = fh_eval_filter_is_set(&filter);
	const char *range = filter.range;
	if (scenarios)
		filter.range = NULL;
	if (r == 0 && !given && !scenarios && filtered)
		fh_eval_tests_add(&p->tests, p->config.document, json_object(), "");
	if (r == 0)
		r = fh_eval_filter_apply(&filter, p->default_test, &p->tests, err);
	if (r == 0)
		r = fh_eval_plan_before_all(p, scripts, err);
	if (r == 0)
		r = fh_eval_scenarios_join(&p->scenarios, p->default_test, &p->tests, err);
	if (r == 0 && fh_eval_extensions_want(&p->extensions, FH_HOOK_AFTER_ALL))
		p->suite = fh_eval_plan_suite(p);
	fh_eval_scenarios_release(&p->scenarios);
	if (r == 0 && scenarios && range)
		r = fh_eval_filter_range(range, &p->tests, err);
	if (r == 0 && p->tests.count == 0 && !given && !scenarios && !filtered)
		fh_eval_tests_add(&p->tests, p->config.document, json_object(), "");
	if (r == 0 && p->tests.count == 0)
		fh_eval_config_note(&p->config, p->config.document, "", "no test is left to run");
	return r;
}

/* Loads nunjucksFilters: {name: FILE}, relative to the config. */
static int load_filters(struct fh_eval_plan *p, struct fh_error *err)
{
	const json_t *spec = json_object_get(p->config.root, "nunjucksFilters");
	const char *name;
	json_t *path;
	json_object_foreach((json_t *)(uintptr_t)spec, name, path)
	{
		FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
		fh_auto_free char *place = fh_xasprintf("nunjucksFilters/%s", name);
		int r = json_is_string(path) ? fh_eval_config_paths(&p->config, json_string_value(path), &paths, err)
		                             : fh_error_set(err, FH_E_CONFIG, "a filter is the name of a JavaScript file");
		if (r < 0)
			return fh_document_place(p->config.document, place, err);
		if (!p->filters)
			p->filters = json_object();
		json_object_set_new(p->filters, name, json_string(paths.items[paths.count - 1]));
	}
	return 0;
}

static int check_options(struct fh_eval_plan *p, struct fh_error *err)
{
	struct fh_eval_config *c = &p->config;
	int r = 0;
	for (size_t i = 0; i < c->part_count && r == 0; i++) {
		const struct fh_document *d = c->parts[i];
		const json_t *derived = json_object_get(d->root, "derivedMetrics");
		r = fh_eval_keys_check(c, d, json_object_get(d->root, "evaluateOptions"), "evaluateOptions",
		                       &fh_eval_keys_evaluate, err);
		if (r == 0)
			r = fh_eval_keys_check(c, d, json_object_get(d->root, "commandLineOptions"), "commandLineOptions",
			                       &fh_eval_keys_command_line, err);
		for (size_t j = 0; j < json_array_size(derived) && r == 0; j++) {
			fh_auto_free char *place = fh_xasprintf("derivedMetrics/%zu", j);
			r = fh_eval_keys_check(c, d, json_array_get(derived, j), place, &fh_eval_keys_derived, err);
		}
	}
	return r;
}

static bool uses_conversation(const struct fh_eval_plan *p)
{
	for (size_t i = 0; i < p->prompts.count; i++)
		if (!p->prompts.items[i].file && strstr(p->prompts.items[i].raw, "_conversation"))
			return true;
	return false;
}

static void note_var(struct fh_eval_plan *p, const char *name)
{
	fh_auto_json json_t *one = json_pack("{s:n}", name);
	note_vars(p, one);
}

/* Records the variables that cells have beside those of their tests: _conversation, and stored outputs of earlier
 * cells. */
static void note_runtime_vars(struct fh_eval_plan *p)
{
	if (p->conversation)
		note_var(p, "_conversation");
	for (size_t i = 0; i < p->cell_count; i++) {
		const struct fh_eval_row *row = &p->rows[p->cells[i].row];
		const char *stored = fh_json_str(json_object_get(row->test, "options"), "storeOutputAs", NULL);
		if (!stored || !*stored)
			continue;
		p->stored = p->stored ? p->stored : json_object();
		json_object_set_new(p->stored, stored, json_true());
		if (i + 1 < p->cell_count || row->serial)
			note_var(p, stored);
	}
}

static int make(struct fh_eval_plan *p, const struct fh_eval_overrides *o, const struct fh_eval_provider_needs *needs,
                struct fh_error *err)
{
	struct fh_eval_config *c = &p->config;
	const json_t *targets = json_object_get(c->root, "targets");
	const char *place = targets ? "targets" : "providers";
	const json_t *providers = targets ? targets : json_object_get(c->root, "providers");
	if (targets && json_object_get(c->root, "providers"))
		return fh_document_error(c->document, "targets", err, "\"providers\" and \"targets\" are the same; give one");
	p->derived = json_incref(json_object_get(c->root, "derivedMetrics"));
	int r = check_options(p, err);
	if (r == 0)
		r = load_options(p, o, err);
	if (r == 0)
		r = load_filters(p, err);
	if (r == 0)
		r = fh_eval_extensions_load(c, o->extensions, &p->extensions, err);
	if (r == 0)
		r = fh_eval_prompts_load(c, o->prompts ? o->prompts : json_object_get(c->root, "prompts"), needs->scripts,
		                         &p->prompts, err);
	if (r == 0)
		r = fh_eval_providers_load(c, o->providers ? o->providers : providers, place, needs, &p->providers, err);
	p->provider_columns = p->providers.count;
	if (r == 0)
		r = load_default_test(p, o, err);
	if (r == 0)
		r = make_tests(p, o, needs->scripts, err);
	if (r == 0)
		r = fh_eval_plan_columns(p, o, err);
	if (r == 0)
		r = make_rows(p, o, needs, err);
	if (r < 0)
		return r;
	p->conversation = uses_conversation(p);
	note_runtime_vars(p);
	p->concurrency = p->conversation ? 1 : p->concurrency;
	fh_eval_note_unknown_vars(p);
	return 0;
}

/* Fills in options that the command line does not give from the config's commandLineOptions. */
static struct fh_eval_overrides with_config_options(const struct fh_eval_overrides *given, const json_t *root)
{
	struct fh_eval_overrides o = *given;
	const json_t *line = json_object_get(root, "commandLineOptions");
	const struct {
		const char *name;
		const char **value;
	} texts[] = {
		{ "promptPrefix", &o.prompt_prefix },
		{ "promptSuffix", &o.prompt_suffix },
		{ "grader", &o.grader },
		{ "filterProviders", &o.filter_providers },
		{ "filterTargets", &o.filter_providers },
		{ "filterPrompts", &o.filter_prompts },
		{ "filterPattern", &o.filter.pattern },
		{ "filterFailing", &o.filter.failing },
		{ "filterFailingOnly", &o.filter.failing_only },
		{ "filterErrorsOnly", &o.filter.errors_only },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++)
		if (!*texts[i].value)
			*texts[i].value = fh_json_str(line, texts[i].name, NULL);
	double first = fh_json_num(line, "filterFirstN", -1);
	if (o.filter.first_n == UINT64_MAX && first >= 0 && first < 1e15)
		o.filter.first_n = (uint64_t)first;
	if (!json_object_size(o.vars) && json_is_object(json_object_get(line, "var")))
		o.vars = json_object_get(line, "var");
	return o;
}

int fh_eval_plan_make(struct fh_eval_config *config, const struct fh_eval_overrides *given,
                      const struct fh_eval_provider_needs *needs, struct fh_eval_plan *ret, struct fh_error *err)
{
	struct fh_eval_plan plan = { .config = *config, .needs = *needs };
	const struct fh_eval_overrides all = with_config_options(given, config->root), *o = &all;
	*config = (struct fh_eval_config){ 0 };
	plan.prompt_prefix = fh_xstrdup(o->prompt_prefix ? o->prompt_prefix : "");
	plan.prompt_suffix = fh_xstrdup(o->prompt_suffix ? o->prompt_suffix : "");
	int r = make(&plan, o, needs, err);
	if (r < 0) {
		fh_eval_plan_release(&plan);
		return r;
	}
	*ret = plan;
	return 0;
}

void fh_eval_plan_release(struct fh_eval_plan *p)
{
	for (size_t i = 0; i < p->row_count; i++) {
		json_decref(p->rows[i].test);
		json_decref(p->rows[i].fault);
	}
	for (size_t i = 0; i < p->var_count; i++)
		free(p->vars[i]);
	free(p->rows);
	free(p->cells);
	free(p->columns);
	free(p->vars);
	free(p->prompt_prefix);
	free(p->prompt_suffix);
	json_decref(p->default_test);
	json_decref(p->suite);
	json_decref(p->derived);
	json_decref(p->filters);
	json_decref(p->stored);
	fh_eval_extensions_release(&p->extensions);
	fh_eval_tests_release(&p->tests);
	fh_eval_scenarios_release(&p->scenarios);
	fh_eval_providers_release(&p->providers);
	fh_eval_prompts_release(&p->prompts);
	fh_eval_config_release(&p->config);
	*p = (struct fh_eval_plan){ 0 };
}
