/* SPDX-License-Identifier: MIT */
/* Which calls of the `code` assertion are comparisons of a call with a literal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "eval/assertions/code/code_comparison.h"

static char *function_of(const char *language, const char *function, const char *const *calls, json_t *expected)
{
	struct fh_code_case cases[4] = { 0 };
	struct fh_code_spec spec = { .language = language, .function = function, .cases = cases };
	for (; calls[spec.n]; spec.n++)
		cases[spec.n] = (struct fh_code_case){ .call = calls[spec.n], .expected = expected };
	return fh_code_compared_function(&spec);
}

static void expect(const char *language, const char *call, const char *name)
{
	const char *const calls[] = { call, NULL };
	fh_auto_free char *found = function_of(language, NULL, calls, json_true());
	if (!fh_streq(found ? found : "none", name))
		fail_msg("%s in %s: %s", call, language, found ? found : "none");
}

static void a_call_with_literals_is_compared_with_a_literal(void **state)
{
	static const char *const python[] = { "f(5) == 120",
		                                  "120 == f( 5 )",
		                                  "f() != None",
		                                  "f(3) < 7.5",
		                                  "f(7, whole=True) >= 3",
		                                  "f(1, b='==) ') == [1, '==) ']",
		                                  "f({'k': (1, None)}) == [{'k': (1, None)}, \"x\"]",
		                                  " f(-1) == b'a' ",
		                                  "f(1e5, 0x1F) <= 1_000",
		                                  "f('a' 'b') == 'ab'" };
	static const char *const javascript[] = { "f(2, 3) === 5", "'ab' == f('a', \"b\")", "f(2) !== undefined",
		                                      "f([1, null]) > 5n" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(python); i++)
		expect("python", python[i], "f");
	for (size_t i = 0; i < FH_ARRAY_SIZE(javascript); i++)
		expect("javascript", javascript[i], "f");
}

/* What names anything else may need the program's process. */
static void other_expressions_are_not(void **state)
{
	static const char *const python[] = { "f(5)",
		                                  "f(2 + f(1)) == 6",
		                                  "f(5) == f(5)",
		                                  "not f(5) == 24",
		                                  "f(5) == 120 and True",
		                                  "f(len('abc')) == 6",
		                                  "f(g)[1] == 'x'",
		                                  "1 < f(2) < 3",
		                                  "f(5).real == 5",
		                                  "C().m(1) == 1",
		                                  "f(5) == ",
		                                  "== 5",
		                                  "f(5) == f'{x}'",
		                                  "f((n := 5)) == 5",
		                                  "f(5) + 1 == 2",
		                                  "f(*x) == 1",
		                                  "f(5) == 120; import os",
		                                  "f(5) is 120",
		                                  "True(5) == 1",
		                                  "f(5) == [x for x in (1, 2)]",
		                                  "f(5)(6) == 1",
		                                  "f(5 == 120",
		                                  "lambda: f(5) == 120",
		                                  "" };
	static const char *const javascript[] = { "f(2, 3) === f(3, 2)", "f(2) === `${5}`",   "f(() => 1) === 1",
		                                      "f(n = 5) === 5",      "f({ a: 1 }) === 1", "f(5) = 120",
		                                      "f(5) === process.pid" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(python); i++)
		expect("python", python[i], "none");
	for (size_t i = 0; i < FH_ARRAY_SIZE(javascript); i++)
		expect("javascript", javascript[i], "none");
	expect("ruby", "f(5) == 120", "none");
}

static void all_cases_are_about_one_function(void **state)
{
	const char *const same[] = { "f(5) == 120", "f(0) != 1", NULL },
	                  *const two[] = { "f(5) == 120", "g(5) == 120", NULL },
	                  *const mixed[] = { "f(5) == 120", "f(5)", NULL };
	fh_auto_free char *one = function_of("python", "f", same, json_false());
	assert_string_equal(one, "f");
	assert_null(function_of("python", "g", same, json_true()));
	assert_null(function_of("python", NULL, two, json_true()));
	assert_null(function_of("python", NULL, mixed, json_true()));
	fh_auto_json json_t *number = json_integer(1);
	assert_null(function_of("python", NULL, same, number));
	assert_null(function_of("python", NULL, same, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_with_literals_is_compared_with_a_literal),
		cmocka_unit_test(other_expressions_are_not),
		cmocka_unit_test(all_cases_are_about_one_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
