/* SPDX-License-Identifier: MIT */
/* Searching a row of the store: what counts as a text of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "store/search.h"

static bool has(const char *row, const char *words)
{
	return fh_search_has(fh_str(row), fh_str(words));
}

static bool matches(const char *row, const char *pattern)
{
	struct fh_search_cache *cache = NULL;
	bool found = fh_search_matches(&cache, fh_str(row), fh_str(pattern));
	fh_search_cache_free(cache);
	return found;
}

static void test_values_are_searched_and_names_are_not(void **state)
{
	const char *row = "{\"name\":\"value\",\"list\":[\"one\",{\"deep\" : \"two\"}],\"n\":17,\"empty\":\"\"}";
	assert_true(has(row, "value"));
	assert_true(has(row, "one"));
	assert_true(has(row, "two"));
	assert_false(has(row, "name"));
	assert_false(has(row, "deep"));
	assert_false(has(row, "17"));
	assert_false(has(row, "one\",{\"deep"));
	assert_true(matches(row, "^two$"));
	assert_false(matches(row, "deep"));
}

static void test_upper_and_lower_case_of_ascii_are_the_same(void **state)
{
	assert_true(has("[\"Hello World\"]", "hELLO w"));
	assert_true(has("[\"zZzQ\"]", "zzq"));
	assert_true(has("[\"aaaaab\"]", "aab"));
	assert_false(has("[\"abc\"]", "abcd"));
	assert_false(has("[\"ab\",\"c\"]", "abc"));
	assert_true(has("[\"\xc3\xa4x\"]", "\xc3\xa4X"));
}

static void test_escapes_are_read_as_what_they_stand_for(void **state)
{
	assert_true(has("[\"a\\nb\\t\\\"c\\\\d\\/e\"]", "a\nb\t\"c\\d/e"));
	assert_true(has("[\"\\u0041\\u00e4\\u20ac\\ud83d\\ude42\"]", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82"));
	assert_true(has("[\"x\\u001b[31m\"]", "\x1b[31m"));
	assert_true(matches("[\"a\\nb\"]", "^a\\nb$"));
	assert_true(has("[\"end\\\\\",\"next\"]", "next"));
	assert_true(has("[\"\\ud83d lone\"]", "lone"));
	assert_true(has("[\"\\ud83d\\u0041\"]", "\xef\xbf\xbd\x41"));
}

static void test_what_is_cut_off_does_no_harm(void **state)
{
	static const char *const rows[] = { "", "\"", "{\"a", "[\"a\\", "[\"\\u00", "[\"\\ud83d\\u\"]", "[\"a\\\"" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		(void)has(rows[i], "\n");
		(void)matches(rows[i], "a.");
	}
	assert_false(has("[\"a", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_searched_and_names_are_not),
		cmocka_unit_test(test_upper_and_lower_case_of_ascii_are_the_same),
		cmocka_unit_test(test_escapes_are_read_as_what_they_stand_for),
		cmocka_unit_test(test_what_is_cut_off_does_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
