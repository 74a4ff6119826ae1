/* SPDX-License-Identifier: MIT */
#include "eval/filter.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "base/clock.h"
#include "eval/text.h"

static void drop(struct fh_eval_test *t)
{
	json_decref(t->json);
	free(t->place);
}

static void keep_range(struct fh_eval_tests *tests, size_t start, size_t end)
{
	end = FH_MIN(end, tests->count);
	start = FH_MIN(start, end);
	for (size_t i = 0; i < tests->count; i++)
		if (i < start || i >= end)
			drop(&tests->items[i]);
	if (start > 0)
		memmove(tests->items, tests->items + start, (end - start) * sizeof(*tests->items));
	tests->count = end - start;
}

static void keep_marked(struct fh_eval_tests *tests, const bool *keep)
{
	size_t n = 0;
	for (size_t i = 0; i < tests->count; i++) {
		if (keep[i])
			tests->items[n++] = tests->items[i];
		else
			drop(&tests->items[i]);
	}
	tests->count = n;
}

/* -------------------------------------------------------------------------------------------------------- metadata */

static bool value_is(const json_t *value, const char *wanted)
{
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			if (value_is(json_array_get(value, i), wanted))
				return true;
		return false;
	}
	if (!value)
		return false;
	fh_auto_free char *text = fh_text_of_json(value);
	return strcmp(text, wanted) == 0;
}

static int by_metadata(const char *condition, const json_t *default_test, struct fh_eval_tests *tests,
                       struct fh_error *err)
{
	const char *equals = strchr(condition, '=');
	if (!equals || equals == condition)
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-metadata \"%s\": not of the form KEY=VALUE", condition);
	fh_auto_free char *key = fh_xstrndup(condition, (size_t)(equals - condition));
	fh_auto_free bool *keep = fh_xcalloc(tests->count + 1, sizeof(*keep));
	for (size_t i = 0; i < tests->count; i++) {
		const json_t *value = json_object_get(json_object_get(tests->items[i].json, "metadata"), key);
		keep[i] = value_is(value ? value : json_object_get(json_object_get(default_test, "metadata"), key), equals + 1);
	}
	keep_marked(tests, keep);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- pattern */

static int by_pattern(const char *pattern, struct fh_eval_tests *tests, struct fh_error *err)
{
	int problem;
	PCRE2_SIZE offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &problem, &offset, NULL);
	if (!code) {
		char text[256] = "";
		pcre2_get_error_message(problem, (PCRE2_UCHAR *)text, sizeof(text));
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-pattern \"%s\": %s at character %zu", pattern, text,
		                    (size_t)offset + 1);
	}
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	fh_auto_free bool *keep = fh_xcalloc(tests->count + 1, sizeof(*keep));
	for (size_t i = 0; i < tests->count; i++) {
		const char *text = fh_json_str(tests->items[i].json, "description", NULL);
		keep[i] = text && pcre2_match(code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, data, NULL) >= 0;
	}
	pcre2_match_data_free(data);
	pcre2_code_free(code);
	keep_marked(tests, keep);
	return 0;
}

static int by_range(const char *range, struct fh_eval_tests *tests, struct fh_error *err)
{
	char *end;
	unsigned long start = strtoul(range, &end, 10), stop = 0;
	bool ok = end != range && *end == ':' && *range != '-';
	if (ok) {
		const char *second = end + 1;
		stop = strtoul(second, &end, 10);
		ok = end != second && !*end && *second != '-' && stop >= start;
	}
	if (!ok)
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-range \"%s\": not of the form START:END", range);
	keep_range(tests, start, stop);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- sample */

/* The generator that promptfoo seeds (FNV-1a of the seed's text, then mulberry32), so that a seed picks the same. */
static uint32_t seed_of(const char *text)
{
	uint32_t h = 2166136261u;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static double next_random(uint32_t *state)
{
	*state += 0x6D2B79F5u;
	uint32_t t = *state;
	t = (t ^ t >> 15) * (t | 1u);
	t ^= t + (t ^ t >> 7) * (t | 61u);
	return (t ^ t >> 14) / 4294967296.0;
}

static void by_sample(const struct fh_eval_filter *f, struct fh_eval_tests *tests)
{
	fh_auto_free char *clock = fh_xasprintf("%lld", (long long)fh_wall_ms());
	uint32_t state = seed_of(f->sample_seed ? f->sample_seed : clock);
	for (size_t i = tests->count; i-- > 1;) {
		size_t j = (size_t)(next_random(&state) * (double)(i + 1));
		struct fh_eval_test t = tests->items[i];
		tests->items[i] = tests->items[j];
		tests->items[j] = t;
	}
	keep_range(tests, 0, f->sample);
}

int fh_eval_filter_apply(const struct fh_eval_filter *f, const json_t *default_test, struct fh_eval_tests *tests,
                         struct fh_error *err)
{
	int r = 0;
	for (const char *const *m = f->metadata; m && *m && r == 0; m++)
		r = by_metadata(*m, default_test, tests, err);
	if (r == 0 && f->pattern)
		r = by_pattern(f->pattern, tests, err);
	if (r == 0 && f->range)
		r = by_range(f->range, tests, err);
	if (r < 0)
		return r;
	keep_range(tests, 0, f->first_n);
	if (f->sample != UINT64_MAX)
		by_sample(f, tests);
	return 0;
}
