/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/scenarios.h"
#include "eval/config/keys.h"
#include "eval/common/text.h"

struct loader {
	struct fh_eval_config *config;
	const json_t *default_test;
	const struct fh_eval_filter *filter;
	struct fh_script_pool *scripts;
	struct fh_eval_scenarios *ret;
	struct fh_error *err;
};

static json_t *joined(const json_t *default_test, const json_t *data, const json_t *test, const char *key)
{
	json_t *o = json_object();
	json_object_update(o, json_object_get(default_test, key));
	json_object_update(o, json_object_get(data, key));
	json_object_update(o, json_object_get(test, key));
	return o;
}

/* Joins one entry of `config`, the number `conversation` of all scenarios' entries, with one test. New reference. */
static json_t *join(const json_t *default_test, const json_t *data, const json_t *test, size_t conversation)
{
	json_t *one = json_object();
	json_object_update(one, (json_t *)(uintptr_t)data);
	json_object_update(one, (json_t *)(uintptr_t)test);
	json_object_set_new(one, "vars", joined(default_test, data, test, "vars"));
	json_object_set_new(one, "options", joined(default_test, data, test, "options"));
	json_t *assert = json_array();
	json_array_extend(assert, json_object_get(data, "assert"));
	json_array_extend(assert, json_object_get(test, "assert"));
	json_object_set_new(one, "assert", assert);
	json_t *metadata = joined(default_test, data, test, "metadata");
	if (!json_object_get(metadata, "conversationId"))
		json_object_set_new(metadata, "conversationId", json_sprintf("__scenario_%zu__", conversation));
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
	fh_auto_free char *seed = filter.sample_seed ? fh_eval_filter_seed(filter.sample_seed, l->ret->count) : NULL;
	filter.sample_seed = seed;
	return fh_eval_filter_apply(&filter, l->default_test, ret, l->err);
}

static struct fh_eval_scenario *add(struct fh_eval_scenarios *s, const struct fh_document *d, const json_t *scenario,
                                    json_t *config, const char *place)
{
	struct fh_eval_scenario *one = &FH_PUSH(s->items, s->count, s->capacity);
	*one = (struct fh_eval_scenario){ .json = json_copy((json_t *)(uintptr_t)scenario),
		                              .config = json_incref(config),
		                              .document = d,
		                              .place = fh_xstrdup(place) };
	return one;
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
	for (size_t i = 0; i < json_array_size(config) && r == 0; i++) {
		fh_auto_free char *at = fh_xasprintf("%s/%zu", at_config, i);
		r = fh_eval_test_validate(l->config, d, json_array_get(config, i), at, l->err);
	}
	struct fh_eval_tests tests = { 0 };
	if (r == 0)
		r = load_tests(l, d, json_object_get(scenario, "tests"), at_tests, &tests);
	add(l->ret, d, scenario, config, at_config)->tests = tests;
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
                           struct fh_script_pool *scripts, struct fh_eval_scenarios *ret, struct fh_error *err)
{
	struct loader l = {
		.config = c, .default_test = default_test, .filter = filter, .scripts = scripts, .ret = ret, .err = err
	};
	int r = 0;
	for (size_t i = 0; i < c->part_count && r == 0; i++) {
		const json_t *spec = json_object_get(c->parts[i]->root, "scenarios");
		if (!spec || json_is_null(spec))
			continue;
		ret->any = true;
		r = load_list(&l, c->parts[i], spec, "scenarios", 0);
	}
	return r;
}

json_t *fh_eval_scenarios_json(const struct fh_eval_scenarios *s)
{
	json_t *list = json_array();
	for (size_t i = 0; i < s->count; i++) {
		json_t *one = json_copy(s->items[i].json), *tests = json_array();
		for (size_t j = 0; j < s->items[i].tests.count; j++)
			json_array_append(tests, s->items[i].tests.items[j].json);
		json_object_set(one, "config", s->items[i].config);
		json_object_set_new(one, "tests", tests);
		json_array_append_new(list, one);
	}
	return list;
}

int fh_eval_scenarios_replace(struct fh_eval_config *c, const json_t *list, struct fh_script_pool *scripts,
                              struct fh_eval_scenarios *s, struct fh_error *err)
{
	FH_CLEANUP(fh_eval_scenarios_release) struct fh_eval_scenarios given = { .any = true };
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *scenario = json_array_get(list, i);
		json_t *config = json_object_get(scenario, "config"), *tests = json_object_get(scenario, "tests");
		if (!json_is_array(config) || !json_is_array(tests))
			return fh_document_error(c->document, "extensions", err,
			                         "beforeAll gave a scenario without the lists \"config\" and \"tests\"");
		struct fh_eval_scenario *one = add(&given, c->document, scenario, config, "extensions");
		int r = fh_eval_tests_replace(c, tests, "scenarios of beforeAll", scripts, &one->tests, err);
		for (size_t j = 0; j < json_array_size(config) && r == 0; j++)
			r = fh_eval_test_validate(c, c->document, json_array_get(config, j), "extensions", err);
		if (r < 0)
			return r;
	}
	fh_eval_scenarios_release(s);
	*s = FH_TAKE(given, (struct fh_eval_scenarios){ 0 });
	return 0;
}

int fh_eval_scenarios_join(const struct fh_eval_scenarios *s, const json_t *default_test, struct fh_eval_tests *tests,
                           struct fh_error *err)
{
	size_t conversation = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct fh_eval_scenario *one = &s->items[i];
		for (size_t j = 0; j < json_array_size(one->config); j++, conversation++) {
			for (size_t k = 0; k < one->tests.count; k++) {
				const struct fh_eval_test *t = &one->tests.items[k];
				if (tests->count >= FH_EVAL_TESTS_MAX)
					return fh_document_error(one->document, one->place, err, "more than %d tests", FH_EVAL_TESTS_MAX);
				json_t *joined = join(default_test, json_array_get(one->config, j), t->json, conversation);
				fh_eval_tests_add(tests, t->document, joined, t->place);
			}
		}
	}
	return 0;
}

void fh_eval_scenarios_release(struct fh_eval_scenarios *s)
{
	for (size_t i = 0; i < s->count; i++) {
		json_decref(s->items[i].json);
		json_decref(s->items[i].config);
		fh_eval_tests_release(&s->items[i].tests);
		free(s->items[i].place);
	}
	free(s->items);
	*s = (struct fh_eval_scenarios){ 0 };
}
