/* SPDX-License-Identifier: MIT */
#include "judge/format.h"

const struct fh_judge_format *const fh_judge_formats[] = { &fh_judge_pack, &fh_judge_human_eval, NULL };

bool fh_judge_field(const json_t *row, const char *key, struct fh_str *ret)
{
	const json_t *v = json_object_get(row, key);
	if (!json_is_string(v))
		return false;
	*ret = (struct fh_str){ json_string_value(v), json_string_length(v) };
	return true;
}
