/* SPDX-License-Identifier: MIT */
#include "store/judged.h"

char *fh_judged_task(const json_t *data)
{
	const json_t *id = json_object_get(data, "task_id");
	return json_is_integer(id) ? fh_json_text(id, 0) : fh_xstrdup(json_is_string(id) ? json_string_value(id) : "");
}

bool fh_judged_counts(const json_t *config, const json_t *data)
{
	return fh_json_bool(config, "allow_in_process", false) ||
	       !fh_streq(fh_json_str(data, "integrity", ""), "in-process");
}

bool fh_judged_has_figures(const json_t *config)
{
	return json_array_size(json_object_get(json_object_get(config, "self_check"), "failures")) == 0;
}
