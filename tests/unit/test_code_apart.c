/* SPDX-License-Identifier: MIT */
/* Which calls of the `code` assertion are judged apart from the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "eval/assertions/code/code_apart.h"
#include "eval/assertions/code/code_language.h"
#include "sandbox/planning/language.h"

static char *function_of(const char *language, const char *function, const char *const *calls, json_t *expected)
{
	struct fh_code_case cases[4] = { 0 };
	struct fh_code_spec spec = { .language = language, .function = function, .cases = cases };
	for (; calls[spec.n]; spec.n++)
		cases[spec.n] = (struct fh_code_case){ .call = calls[spec.n], .expected = expected };
	return fh_code_apart_function(&spec);
}

static void expect(const char *language, const char *call, const char *name)
{
	const char *const calls[] = { call, NULL };
	fh_auto_free char *found = function_of(language, NULL, calls, json_true());
	if (!fh_streq(found ? found : "none", name))
		fail_msg("%s in %s: %s", call, language, found ? found : "none");
}

static void an_expression_over_calls_of_one_function_is_judged_apart(void **state)
{
	static const char *const python[] = {
		"f(5) == 120",
		"120 == f( 5 )",
		"f() != None",
		"f(7, whole=True) >= 3",
		"f(1, b='==) ') == [1, '==) ']",
		"f({'k': (1, None)}) == [{'k': (1, None)}, \"x\"]",
		" f(-1) == b'a' ",
		"f(1e5, 0x1F) <= 1_000",
		"f('a' 'b') == 'ab'",
		"len(f('a b'))",
		"f(2 + f(1)) == 6",
		"f(5) == f(5)",
		"not f(5) == 24",
		"f(5) == 120 and True",
		"1 < f(2) < 3",
		"isinstance(f(5), (list, tuple))",
		"f(5)[0]",
		"f(5) is None",
		"f(5) is not True",
		"[f(n) for n in range(10)]",
		"sorted(f('x'), key=lambda pair: pair[1])",
		"list(map(f, [1, 2]))",
		"{name: f(name) for name in ('a', 'b')}",
		"f(5) if f(1) else 2",
		"f(5 == 120) + 1",
	};
	static const char *const javascript[] = {
		"f(2, 3) === 5",
		"'ab' == f('a', \"b\")",
		"f(2) !== undefined",
		"f([1, null]) > 5n",
		"f('a b').length",
		"[f(1), f(2)]",
		"typeof f(2)",
		"Math.max(f(1), f(2))",
		"!f(2)",
		"new Set(f([1, 1])).size",
		"f(1) ? 'yes' : 'no'",
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(python); i++)
		expect("python", python[i], "f");
	for (size_t i = 0; i < FH_ARRAY_SIZE(javascript); i++)
		expect("javascript", javascript[i], "f");
}

static void a_program_may_have_a_function_that_is_called_like_the_languages_own(void **state)
{
	expect("python", "sum([1, 2]) == 3", "sum");
	expect("python", "int(f(5)) == 120", "f");
}

/* What names anything else may need the program's process. */
static void other_expressions_are_not(void **state)
{
	static const char *const python[] = {
		"f(5)", /* it needs not: it gives what the function gives */
		"f(g)[1] == 'x'",
		"f(5).real == 5",
		"C().m(1) == 1",
		"== 5",
		"f(5) == f'{x}'",
		"f((n := 5)) == 5",
		"f(*x) == 1",
		"f(5) == 120; import os",
		"f(5) is 120",
		"f(5) is f(5)",
		"True(5) == 1",
		"f(5 == 120",
		"f(5)) + (1",
		"str(f(5)) == 'x'",
		"type(f(5)) == list",
		"hasattr(f(5), 'x')",
		"f(5) = 3",
		"f.cache == {}",
		"__import__('os').getpid() + f(1)",
		"f(5) + x",
		"[f(f) for f in [1]]",
		"f(5) # == 3",
		"1 + 1 == 2",
		"",
	};
	static const char *const javascript[] = {
		"f(2) === `${5}`",      "f(() => 1) === 1", "f(n = 5) === 5", "f({ a: 1 }) === 1", "f(5) = 120",
		"f(5) === process.pid", "f(5).get('a')",    "f(5).length()",  "String(f(5))",      "f(5) + Object.keys(f(5))",
	};
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
	                  *const mixed[] = { "f(5) == 120", "f(5)", NULL }, *const plain[] = { "f(1)", "f(5)", NULL };
	fh_auto_free char *one = function_of("python", "f", same, json_false()),
	                  *other = function_of("python", NULL, mixed, json_true());
	assert_string_equal(one, "f");
	assert_string_equal(other, "f");
	assert_null(function_of("python", "g", same, json_true()));
	assert_null(function_of("python", "C.f", same, json_true()));
	assert_null(function_of("python", NULL, two, json_true()));
	assert_null(function_of("python", NULL, plain, json_true()));
}

static void what_a_value_prints_needs_the_programs_process(void **state)
{
	struct fh_code_case one = { .call = "f(5) + 1", .expected_output = "6" };
	struct fh_code_spec spec = { .language = "python", .cases = &one, .n = 1 };
	assert_null(fh_code_apart_function(&spec));
}

static void assert_complete(const char *language, const struct fh_code_calling *c)
{
	if (!c->driver[0] || !c->solution || !c->compared[0] || !c->add_json || !c->literals || !c->prefixes || !c->words ||
	    !c->members || !c->others || !c->same_as || !c->same_as_function || !c->yes || !c->no || !c->add_string ||
	    !c->last_function)
		fail_msg("a column of %s is empty", language);
}

static void every_language_has_a_row_without_a_gap(void **state)
{
	struct fh_language **all = NULL;
	size_t n;
	assert_int_equal(0, fh_language_all(&all, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		const struct fh_code_language *l = fh_code_language_find(all[i]->name);
		if (!l)
			fail_msg("code_language.c has no row for %s", all[i]->name);
		assert_true(!l->proof_begin == !l->proof_middle && !l->proof_begin == !l->proof_end);
		if (!all[i]->compile[0] && !l->proof_begin)
			fail_msg("%s is not compiled and has no proof", all[i]->name);
		for (size_t k = 0; k < FH_CODE_IMAGES_MAX && l->images[k]; k++)
			assert_string_equal(all[i]->name, fh_code_language_of_image(fh_str(l->images[k])));
		if (l->calling)
			assert_complete(all[i]->name, l->calling);
		fh_language_free(all[i]);
	}
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_expression_over_calls_of_one_function_is_judged_apart),
		cmocka_unit_test(a_program_may_have_a_function_that_is_called_like_the_languages_own),
		cmocka_unit_test(other_expressions_are_not),
		cmocka_unit_test(all_cases_are_about_one_function),
		cmocka_unit_test(every_language_has_a_row_without_a_gap),
		cmocka_unit_test(what_a_value_prints_needs_the_programs_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
