/* SPDX-License-Identifier: MIT */
#include "eval/common/text.h"
#include "eval/plan/plan.h"

/* The values that a variable takes, as a new array of at least one. */
static int values_of(const struct fh_eval_config *c, json_t *value, json_t **ret, struct fh_error *err)
{
	const char *text = json_string_value(value);
	if (json_is_array(value) && json_is_string(json_array_get(value, 0))) {
		*ret = json_incref(value);
		return 0;
	}
	if (!fh_text_is_file(text) || !strpbrk(text, "*?[")) {
		*ret = json_pack("[O]", value);
		return 0;
	}
	FH_CLEANUP(fh_eval_paths_release) struct fh_eval_paths paths = { 0 };
	int r = fh_eval_config_paths(c, text, &paths, err);
	if (r < 0)
		return r;
	json_t *list = json_array();
	for (size_t i = 0; i < paths.count; i++)
		json_array_append_new(list, json_sprintf("file://%s", fh_eval_config_shorten(c, paths.items[i])));
	*ret = list;
	return 0;
}

/* Combines each combination so far with each value of one more variable. */
static int multiply(json_t **combinations, const char *key, const json_t *values, struct fh_error *err)
{
	size_t n = json_array_size(*combinations), m = json_array_size(values);
	if (m == 1) {
		for (size_t i = 0; i < n; i++)
			json_object_set(json_array_get(*combinations, i), key, json_array_get(values, 0));
		return 0;
	}
	if (n * m > FH_EVAL_CELLS_MAX)
		return fh_error_set(err, FH_E_LIMIT, "the lists in vars make more than %d combinations", FH_EVAL_CELLS_MAX);
	json_t *all = json_array();
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++) {
			json_t *one = json_copy(json_array_get(*combinations, i));
			json_object_set(one, key, json_array_get(values, j));
			json_array_append_new(all, one);
		}
	json_decref(*combinations);
	*combinations = all;
	return 0;
}

static bool may_expand(const json_t *vars)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)vars, key, value)
	{
		if (json_is_array(value) || fh_text_is_file(json_string_value(value)))
			return true;
	}
	return false;
}

int fh_eval_vars_expand(const struct fh_eval_config *c, json_t *vars, json_t **ret, struct fh_error *err)
{
	json_t *combinations = json_array();
	if (!may_expand(vars)) {
		json_array_append(combinations, vars);
		*ret = combinations;
		return 0;
	}
	json_array_append_new(combinations, json_object());
	const char *key;
	json_t *value;
	json_object_foreach(vars, key, value)
	{
		fh_auto_json json_t *values = NULL;
		int r = values_of(c, value, &values, err);
		if (r == 0)
			r = multiply(&combinations, key, values, err);
		if (r < 0) {
			json_decref(combinations);
			return r;
		}
	}
	*ret = combinations;
	return 0;
}
