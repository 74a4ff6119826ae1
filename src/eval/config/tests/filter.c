/* SPDX-License-Identifier: MIT */
#include "eval/config/tests/filter.h"
#include <limits.h>
#include "base/clock.h"
#include "base/path.h"
#include "eval/common/pattern.h"
#include "eval/common/text.h"
#include "store/rows.h"

#define RESULTS_FILE_MAX ((size_t)1 << 30)

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

/* As in promptfoo, a value matches when it contains the wanted text. */
static bool value_has(const json_t *value, const char *wanted)
{
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			if (value_has(json_array_get(value, i), wanted))
				return true;
		return false;
	}
	if (!value)
		return false;
	fh_auto_free char *text = fh_text_of_json(value);
	return strstr(text, wanted) != NULL;
}

static int by_metadata(const char *condition, struct fh_eval_tests *tests, struct fh_error *err)
{
	const char *equals = strchr(condition, '=');
	if (!equals || equals == condition)
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-metadata \"%s\": not of the form KEY=VALUE", condition);
	fh_auto_free char *key = fh_xstrndup(condition, (size_t)(equals - condition));
	fh_auto_free bool *keep = fh_xcalloc(tests->count + 1, sizeof(*keep));
	for (size_t i = 0; i < tests->count; i++) {
		const json_t *value = json_object_get(json_object_get(tests->items[i].json, "metadata"), key);
		keep[i] = value_has(value, equals + 1);
	}
	keep_marked(tests, keep);
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- pattern */

static int by_pattern(const char *pattern, struct fh_eval_tests *tests, struct fh_error *err)
{
	fh_auto_pattern pcre2_code *code = NULL;
	int r = fh_pattern_compile(fh_str(pattern), &code, err);
	if (r < 0)
		return fh_error_wrap(err, "--filter-pattern");
	fh_auto_free bool *keep = fh_xcalloc(tests->count + 1, sizeof(*keep));
	for (size_t i = 0; i < tests->count; i++) {
		const char *text = fh_json_str(tests->items[i].json, "description", NULL);
		keep[i] = text && fh_pattern_found(code, fh_str(text));
	}
	keep_marked(tests, keep);
	return 0;
}

int fh_eval_filter_range(const char *range, struct fh_eval_tests *tests, struct fh_error *err)
{
	const char *colon = strchr(range, ':');
	size_t digits = strspn(range, "0123456789"), more = colon ? strspn(colon + 1, "0123456789") : 0;
	if (!colon || range + digits != colon || colon[1 + more] || digits + more == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-range \"%s\": not of the form START:END", range);
	unsigned long start = digits ? strtoul(range, NULL, 10) : 0, end = more ? strtoul(colon + 1, NULL, 10) : ULONG_MAX;
	if (end < start)
		return fh_error_set(err, FH_E_ARGUMENT, "--filter-range \"%s\": it ends before it starts", range);
	keep_range(tests, start, end);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- results of before */

static json_t *vars_of(const json_t *test, const json_t *default_test)
{
	json_t *vars = json_object();
	json_object_update(vars, json_object_get(default_test, "vars"));
	json_object_update(vars, json_object_get(test, "vars"));
	return vars;
}

/* Whether a row of a results file belongs to a test: both have the same variables, except those that an eval adds by
 * itself. *ret_one (an own copy of vars) gets the row's value of each variable for which the test has a list. */
static bool is_row_of(const json_t *row, const json_t *vars, json_t *ret_one)
{
	static const char *const made[] = { "_conversation", "sessionId" };
	fh_auto_json json_t *own = json_copy(json_object_get(row, "vars"));
	const char *name;
	json_t *list;
	for (size_t i = 0; i < FH_ARRAY_SIZE(made); i++)
		json_object_del(own, made[i]);
	json_object_foreach((json_t *)(uintptr_t)vars, name, list)
	{
		json_t *value = json_object_get(own, name);
		size_t i = 0;
		if (!json_is_array(list) || !value || json_equal(list, value))
			continue;
		while (i < json_array_size(list) && !json_equal(json_array_get(list, i), value))
			i++;
		if (i < json_array_size(list))
			json_object_set(ret_one, name, value);
	}
	return json_equal(own, ret_one);
}

static bool row_is_wanted(const struct fh_eval_filter *f, const json_t *row)
{
	bool passed = json_is_true(json_object_get(row, "success")), error = fh_json_int(row, "failureReason", 0) == 2;
	return (f->failing && !passed) || (f->failing_only && !passed && !error) || (f->errors_only && error);
}

static int rows_of_file(const char *path, json_t **ret, struct fh_error *err)
{
	fh_auto_json json_t *file = fh_json_load_file(path, RESULTS_FILE_MAX, err);
	if (!file)
		return fh_error_wrap(err, "--filter-failing");
	json_t *rows = json_object_get(json_object_get(file, "results"), "results");
	if (!json_is_array(rows))
		return fh_error_at(err, path, 0, 0, "not the results of an eval: there is no list results.results");
	*ret = json_incref(rows);
	return 0;
}

/* Keeps the cells of a stored eval that did not pass; the others are not needed. */
static int take_failed(void *context, const struct fh_store_cell *cell, struct fh_error *err)
{
	if (!cell->success)
		json_array_append_new(context, fh_json_parse((struct fh_str){ cell->data, cell->data_n }, NULL, NULL));
	return 0;
}

static int rows_of_store(const char *name, json_t **ret, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	fh_auto_json json_t *rows = json_array();
	struct fh_store_eval e = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, name, &e, err);
	if (r == 0)
		r = fh_store_each_cell(s, e.number, true, take_failed, rows, err);
	fh_store_eval_release(&e);
	if (r < 0)
		return fh_error_wrap(err, "--filter-failing: there is no file %s, nor this eval in the store", name);
	*ret = json_incref(rows);
	return 0;
}

/* Adds a test to those that are kept, unless it is there with these variables. Of a test with lists only the
 * combination of the row is kept. */
static void add_once(struct fh_eval_tests *kept, const struct fh_eval_test *t, const json_t *vars, json_t *one,
                     json_t *seen)
{
	for (size_t i = 0; i < json_array_size(seen); i++)
		if (json_equal(json_array_get(seen, i), one))
			return;
	json_array_append(seen, one);
	struct fh_eval_test copy = *t;
	copy.place = fh_xstrdup(t->place);
	copy.json = json_equal(vars, one) ? json_incref(t->json) : json_copy(t->json);
	if (copy.json != t->json)
		json_object_set(copy.json, "vars", one);
	FH_PUSH(kept->items, kept->count, kept->capacity) = copy;
}

static int by_results(const struct fh_eval_filter *f, const json_t *default_test, struct fh_eval_tests *tests,
                      struct fh_error *err)
{
	const char *path = f->failing ? f->failing : f->failing_only ? f->failing_only : f->errors_only;
	if (!path)
		return 0;
	fh_auto_json json_t *rows = NULL;
	int r = fh_path_exists(path) ? rows_of_file(path, &rows, err) : rows_of_store(path, &rows, err);
	if (r < 0)
		return r;
	struct fh_eval_tests kept = { 0 };
	for (size_t i = 0; i < tests->count; i++) {
		fh_auto_json json_t *vars = vars_of(tests->items[i].json, default_test);
		fh_auto_json json_t *seen = json_array();
		for (size_t j = 0; j < json_array_size(rows); j++) {
			fh_auto_json json_t *one = json_copy(vars);
			if (row_is_wanted(f, json_array_get(rows, j)) && is_row_of(json_array_get(rows, j), vars, one))
				add_once(&kept, &tests->items[i], vars, one, seen);
		}
		drop(&tests->items[i]);
	}
	free(tests->items);
	*tests = kept;
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- sample */

/* promptfoo's seeded generator (FNV-1a of the seed's text, then mulberry32), so that a seed picks the same tests in
 * both. */
static uint32_t seed_of(const char *text)
{
	uint32_t h = 2166136261u;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

char *fh_eval_filter_seed(const char *seed, size_t scenario)
{
	fh_auto_free char *whole = fh_xasprintf("%s:%zu", seed, scenario);
	return fh_xasprintf("%u", seed_of(whole));
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

bool fh_eval_filter_is_set(const struct fh_eval_filter *f)
{
	return f->pattern || f->range || (f->metadata && *f->metadata) || f->failing || f->failing_only || f->errors_only ||
	       f->first_n != UINT64_MAX || f->sample != UINT64_MAX;
}

int fh_eval_filter_apply(const struct fh_eval_filter *f, const json_t *default_test, struct fh_eval_tests *tests,
                         struct fh_error *err)
{
	int r = 0;
	for (const char *const *m = f->metadata; m && *m && r == 0; m++)
		r = by_metadata(*m, tests, err);
	if (r == 0)
		r = by_results(f, default_test, tests, err);
	if (r == 0 && f->pattern)
		r = by_pattern(f->pattern, tests, err);
	if (r == 0 && f->range)
		r = fh_eval_filter_range(f->range, tests, err);
	if (r < 0)
		return r;
	keep_range(tests, 0, f->first_n);
	if (f->sample != UINT64_MAX)
		by_sample(f, tests);
	return 0;
}
