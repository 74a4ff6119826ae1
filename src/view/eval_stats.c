/* SPDX-License-Identifier: MIT */
#include "view/eval_stats.h"

enum { DEPTH_MAX = 8 };

/* Adds the numbers of an object to those of another, at every depth. */
static void add_numbers(json_t *to, const json_t *from, unsigned depth)
{
	const char *name;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)from, name, v)
	{
		json_t *has = json_object_get(to, name);
		if (json_is_object(v) && depth < DEPTH_MAX) {
			if (!json_is_object(has))
				json_object_set_new(to, name, has = json_object());
			add_numbers(has, v, depth + 1);
		} else if (json_is_integer(v) && (!has || json_is_integer(has))) {
			json_object_set_new(to, name, json_integer(json_integer_value(has) + json_integer_value(v)));
		} else if (json_is_number(v)) {
			json_object_set_new(to, name, json_real(json_number_value(has) + json_number_value(v)));
		}
	}
}

json_t *fh_view_stats_json(const struct fh_store_eval *e, const json_t *columns)
{
	json_t *tokens = json_object();
	for (size_t i = 0; i < json_array_size(columns); i++)
		add_numbers(tokens, json_object_get(json_object_get(json_array_get(columns, i), "metrics"), "tokenUsage"), 0);
	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:I}", "successes", (json_int_t)e->passed, "failures",
	                 (json_int_t)e->failed, "errors", (json_int_t)e->errors, "tokenUsage", tokens, "durationMs",
	                 (json_int_t)e->duration_ms, "evaluationDurationMs", (json_int_t)e->duration_ms);
}
