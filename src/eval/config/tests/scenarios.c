/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/scenarios.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"

struct loader {
	struct fh_eval_config *config;
	const json_t *default_test;
	const struct fh_eval_filter *filter;
	struct fh_script_pool *scripts;
	struct fh_eval_tests *ret;
	struct fh_error *err;
	size_t scenario;     /* index of the scenario, which the seed of its sample depends on */
	size_t conversation; /* index of the `config` entry, counted over all scenarios */
};

static json_t *joined(const json_t *default_test, const json_t *data, const json_t *test, const char *key)
{
	json_t *o = json_object();
	json_object_update(o, json_object_get(default_test, key));
	json_object_update(o, json_object_get(data, key));
	json_object_update(o, json_object_get(test, key));
	return o;
}

/* Joins one entry of `config` with one test. New reference. */
static json_t *join(const struct loader *l, const json_t *data, const json_t *test)
{
	json_t *one = json_object();
	json_object_update(one, (json_t *)(uintptr_t)data);
	json_object_update(one, (json_t *)(uintptr_t)test);
	json_object_set_new(one, "vars", joined(l->default_test, data, test, "vars"));
	json_object_set_new(one, "options", joined(l->default_test, data, test, "options"));
	json_t *assert = json_array();
	json_array_extend(assert, json_object_get(data, "assert"));
	json_array_extend(assert, json_object_get(test, "assert"));
	json_object_set_new(one, "assert", assert);
	json_t *metadata = joined(l->default_test, data, test, "metadata");
	if (!json_object_get(metadata, "conversationId"))
		json_object_set_new(metadata, "conversationId", json_sprintf("__scenario_%zu__", l->conversation));
	json_object_set_new(one, "metadata", metadata);
	return one;
}

/* Loads the `tests` of a scenario: a list, or a file that holds one. */
static int load_tests(struct loader *l, const struct fh_document *d, const json_t *spec, const char *place,
                      struct fh_eval_tests *ret)
{
	if (!spec || json_is_null(spec) || (json_is_array(spec) && json_array_size(spec) == 0)) {
		fh_eval_config_warn(l->config, d, place, "this scenario has no \"tests\", so nothing of it is run");
		return 0;
	}
	int r = fh_eval_tests_load(l->config, d, spec, place, l->scripts, ret, l->err);
	if (r < 0)
		return r;
	struct fh_eval_filter filter = *l->filter;
	filter.metadata = NULL;
	filter.range = NULL;
	fh_auto_free char *seed = filter.sample_seed ? fh_eval_filter_seed(filter.sample_seed, l->scenario) : NULL;
	filter.sample_seed = seed;
	return fh_eval_filter_apply(&filter, l->default_test, ret, l->err);
}

static int load_one(struct loader *l, const struct fh_document *d, const json_t *scenario, const char *place)
{
	if (!json_is_object(scenario))
		return fh_document_error(d, place, l->err, "a scenario is a map with \"config\" and \"tests\"");
	int r = fh_eval_keys_check(l->config, d, scenario, place, &fh_eval_keys_scenario, l->err);
	if (r < 0)
		return r;
	fh_auto_free char *at_config = fh_xasprintf("%s%sconfig", place, *place ? "/" : "");
	fh_auto_free char *at_tests = fh_xasprintf("%s%stests", place, *place ? "/" : "");
	fh_auto_json json_t *config = NULL;
	r = fh_eval_config_value(l->config, d, json_object_get(scenario, "config"), at_config, &config, l->err);
	if (r < 0)
		return r;
	if (!json_is_array(config))
		return fh_document_error(d, at_config, l->err, "\"config\" must be a list of partial tests");
	FH_CLEANUP(fh_eval_tests_release) struct fh_eval_tests tests = { 0 };
	r = load_tests(l, d, json_object_get(scenario, "tests"), at_tests, &tests);
	for (size_t i = 0; i < json_array_size(config) && r == 0; i++, l->conversation++) {
		const json_t *data = json_array_get(config, i);
		fh_auto_free char *at = fh_xasprintf("%s/%zu", at_config, i);
		r = fh_eval_test_validate(l->config, d, data, at, l->err);
		for (size_t j = 0; j < tests.count && r == 0; j++) {
			if (l->ret->count >= FH_EVAL_TESTS_MAX)
				return fh_document_error(d, at, l->err, "more than %d tests", FH_EVAL_TESTS_MAX);
			struct fh_eval_test *t = &FH_PUSH(l->ret->items, l->ret->count, l->ret->capacity);
			t->json = join(l, data, tests.items[j].json);
			t->document = tests.items[j].document;
			t->place = fh_xstrdup(tests.items[j].place);
		}
	}
	l->scenario++;
	return r;
}

static int load_list(struct loader *l, const struct fh_document *d, const json_t *spec, const char *place,
                     unsigned depth);

/* Loads a `config` entry; when it names files, their content instead. */
static int load_entry(struct loader *l, const struct fh_document *d, const json_t *entry, const char *place,
                      unsigned depth)
{
	const char *text = json_string_value(entry);
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	if (!text)
		return load_one(l, d, entry, place);
	if (depth > 8)
		return fh_document_error(d, place, l->err, "files of scenarios name each other more than 8 levels deep");
	int r = fh_eval_config_paths(l->config, text, &paths, l->err);
	if (r < 0)
		return fh_document_place(d, place, l->err);
	for (size_t i = 0; i < paths.count && r == 0; i++) {
		struct fh_document *file = NULL;
		r = fh_eval_config_document(l->config, paths.items[i], &file, l->err);
		if (r == 0)
			r = load_list(l, file, file->root, "", depth + 1);
	}
	return r;
}

static int load_list(struct loader *l, const struct fh_document *d, const json_t *spec, const char *place,
                     unsigned depth)
{
	if (!json_is_array(spec))
		return load_entry(l, d, spec, place, depth);
	int r = 0;
	for (size_t i = 0; i < json_array_size(spec) && r == 0; i++) {
		fh_auto_free char *at = fh_xasprintf("%s%s%zu", place, *place ? "/" : "", i);
		r = load_entry(l, d, json_array_get(spec, i), at, depth);
	}
	return r;
}

int fh_eval_scenarios_load(struct fh_eval_config *c, const json_t *default_test, const struct fh_eval_filter *filter,
                           struct fh_script_pool *scripts, struct fh_eval_tests *tests, bool *ret_any,
                           struct fh_error *err)
{
	struct loader l = {
		.config = c, .default_test = default_test, .filter = filter, .scripts = scripts, .ret = tests, .err = err
	};
	int r = 0;
	*ret_any = false;
	for (size_t i = 0; i < c->part_count && r == 0; i++) {
		const json_t *spec = json_object_get(c->parts[i]->root, "scenarios");
		if (!spec || json_is_null(spec))
			continue;
		*ret_any = true;
		r = load_list(&l, c->parts[i], spec, "scenarios", 0);
	}
	return r;
}
