/* SPDX-License-Identifier: MIT */
#include "eval/assertions/kinds.h"

static const struct fh_assertion *const table[] = {
	&fh_assertion_code,          &fh_assertion_contains,      &fh_assertion_contains_all,  &fh_assertion_contains_any,
	&fh_assertion_cost,          &fh_assertion_equals,        &fh_assertion_finish_reason, &fh_assertion_icontains,
	&fh_assertion_icontains_all, &fh_assertion_icontains_any, &fh_assertion_is_json,       &fh_assertion_is_refusal,
	&fh_assertion_javascript,    &fh_assertion_latency,       &fh_assertion_levenshtein,   &fh_assertion_python,
	&fh_assertion_regex,         &fh_assertion_starts_with,   &fh_assertion_word_count,
};

const struct fh_assertion *fh_assertion_at(size_t i)
{
	return i < FH_ARRAY_SIZE(table) ? table[i] : NULL;
}

const struct fh_assertion *fh_assertion_find(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(table); i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}
