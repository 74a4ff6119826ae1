/* SPDX-License-Identifier: MIT */
#include "base/path.h"
#include "eval/config/config_internal.h"
#include "eval/common/text.h"

/* How the values of one key are joined; for a key not listed here the last file's value counts. */
static void join_objects(json_t *into, const char *key, const json_t *value)
{
	json_t *before = json_object_get(into, key);
	json_t *both = json_is_object(before) ? json_copy(before) : json_object();
	json_object_update(both, (json_t *)(uintptr_t)value);
	json_object_set_new(into, key, both);
}

static void add_once(json_t *list, json_t *item)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), item))
			return;
	json_array_append(list, item);
}

static json_t *list_of(json_t *into, const char *key)
{
	json_t *list = json_object_get(into, key);
	if (!json_is_array(list))
		json_object_set_new(into, key, list = json_array());
	return list;
}

static void join_lists(json_t *into, const char *key, const json_t *value)
{
	json_t *list = list_of(into, key);
	for (size_t i = 0; i < json_array_size(value); i++)
		json_array_append(list, json_array_get(value, i));
	if (!json_is_array(value) && !json_is_null(value))
		json_array_append(list, (json_t *)(uintptr_t)value);
}

static void join_providers(json_t *into, const json_t *value)
{
	json_t *list = list_of(into, "providers");
	for (size_t i = 0; i < json_array_size(value); i++)
		add_once(list, json_array_get(value, i));
	if (json_is_string(value))
		add_once(list, (json_t *)(uintptr_t)value);
}

/* A prompt's file is relative to the config that names it. */
static json_t *absolute_prompt(const json_t *prompt, const char *dir)
{
	const char *text = json_is_string(prompt) ? json_string_value(prompt) : fh_json_str(prompt, "id", NULL);
	if (!fh_text_is_file(text))
		return json_incref((json_t *)(uintptr_t)prompt);
	fh_auto_free char *path = fh_path_join(dir, text + strlen("file://"));
	json_t *absolute = json_sprintf("file://%s", path);
	if (json_is_string(prompt))
		return absolute;
	json_t *copy = json_copy((json_t *)(uintptr_t)prompt);
	json_object_set_new(copy, "id", absolute);
	return copy;
}

static void join_prompts(json_t *into, const json_t *value, const char *dir)
{
	if (json_is_object(value)) {
		join_objects(into, "prompts", value);
		return;
	}
	json_t *list = list_of(into, "prompts");
	size_t n = json_is_array(value) ? json_array_size(value) : 1;
	for (size_t i = 0; i < n; i++) {
		json_t *prompt = absolute_prompt(json_is_array(value) ? json_array_get(value, i) : value, dir);
		add_once(list, prompt);
		json_decref(prompt);
	}
}

static void join_default_test(json_t *into, const json_t *value)
{
	static const char *const maps[] = { "vars", "options", "metadata" };
	json_t *before = json_object_get(into, "defaultTest");
	if (!json_is_object(value) || json_is_string(before)) {
		if (json_is_string(value))
			json_object_set(into, "defaultTest", (json_t *)(uintptr_t)value);
		return;
	}
	json_t *both = before ? json_copy(before) : json_object();
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)value, key, v)
	{
		if (strcmp(key, "assert") != 0)
			json_object_set(both, key, v);
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(maps); i++)
		if (json_object_get(before, maps[i]) && json_object_get(value, maps[i])) {
			json_object_set(both, maps[i], json_object_get(before, maps[i]));
			join_objects(both, maps[i], json_object_get(value, maps[i]));
		}
	json_t *assert = json_array();
	json_array_extend(assert, json_object_get(before, "assert"));
	json_array_extend(assert, json_object_get(value, "assert"));
	json_object_set_new(both, "assert", assert);
	json_object_set_new(into, "defaultTest", both);
}

static void join_description(json_t *into, const char *text)
{
	const char *before = fh_json_str(into, "description", NULL);
	json_object_set_new(into, "description", before ? json_sprintf("%s, %s", before, text) : json_string(text));
}

static void join_member(json_t *into, const char *key, const json_t *v, const char *dir)
{
	static const char *const objects[] = { "tags",    "nunjucksFilters", "env", "evaluateOptions", "commandLineOptions",
		                                   "metadata" };
	static const char *const lists[] = { "derivedMetrics", "extensions", "outputPath", "scenarios", "tests" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(objects); i++)
		if (strcmp(key, objects[i]) == 0) {
			join_objects(into, key, v);
			return;
		}
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		if (strcmp(key, lists[i]) == 0) {
			join_lists(into, key, v);
			return;
		}
	if (strcmp(key, "providers") == 0 || strcmp(key, "targets") == 0)
		join_providers(into, v);
	else if (strcmp(key, "prompts") == 0)
		join_prompts(into, v, dir);
	else if (strcmp(key, "defaultTest") == 0)
		join_default_test(into, v);
	else if (strcmp(key, "description") == 0)
		join_description(into, json_string_value(v) ? json_string_value(v) : "");
	else
		json_object_set(into, key, (json_t *)(uintptr_t)v);
}

json_t *fh_eval_config_join(const struct fh_eval_config *c)
{
	json_t *all = json_object();
	for (size_t i = 0; i < c->part_count; i++) {
		fh_auto_free char *dir = fh_path_dir(c->parts[i]->path);
		fh_auto_free char *absolute = realpath(*dir ? dir : ".", NULL);
		const char *key;
		json_t *v;
		json_object_foreach(c->parts[i]->root, key, v) join_member(all, key, v, absolute ? absolute : dir);
	}
	return all;
}
