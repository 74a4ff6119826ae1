/* SPDX-License-Identifier: MIT */
/* The rules by which output compares, and values as program text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/program_text.h"
#include "judge/comparing/compare.h"

static void each_rule_takes_its_differences_and_no_others(void **state)
{
	static const struct {
		enum fh_compare rule;
		const char *expected, *got;
		bool equal;
	} cases[] = {
		{ FH_COMPARE_EXACT, "a\n", "a\n", true },
		{ FH_COMPARE_EXACT, "a\n", "a", false },
		{ FH_COMPARE_TRIMMED, "a\nb", "a  \r\nb\n\n", true },
		{ FH_COMPARE_TRIMMED, "a\nb", "a\n\nb", false },
		{ FH_COMPARE_TRIMMED, "a", " a", false },
		{ FH_COMPARE_TRIMMED, "a\nb\n", "a\n", false },
		{ FH_COMPARE_TRIMMED, "", "\n", true },
		{ FH_COMPARE_TOKENS, "1 2\n3", "  1\n2\t3 \n", true },
		{ FH_COMPARE_TOKENS, "1 2\n3", "1 23", false },
		{ FH_COMPARE_TOKENS, "1 2", "1 2 3", false },
		{ FH_COMPARE_TOKENS, "1 2", "1", false },
		{ FH_COMPARE_TOKENS, "1", "1.0", false },
		{ FH_COMPARE_NUMBERS, "1 x", "1.0005 x", true },
		{ FH_COMPARE_NUMBERS, "1000000", "1000999", true },
		{ FH_COMPARE_NUMBERS, "0", "0.0005", true },
		{ FH_COMPARE_NUMBERS, "1", "-5", false },
		{ FH_COMPARE_NUMBERS, "1", "1.1", false },
		{ FH_COMPARE_NUMBERS, "1", "0x1", false },
		{ FH_COMPARE_NUMBERS, "1", "nan", false },
		{ FH_COMPARE_NUMBERS, "1e400", "2e400", false },
		{ FH_COMPARE_NUMBERS, "x1", "x1.0", false },
		{ FH_COMPARE_UNORDERED, "a\nb\na\n", "a\na \nb", true },
		{ FH_COMPARE_UNORDERED, "a\nb\na\n", "a\nb\nb", false },
		{ FH_COMPARE_UNORDERED, "a\nb", "a", false },
		{ FH_COMPARE_UNORDERED, "", "", true },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++)
		if (fh_compare_output(cases[i].rule, fh_str(cases[i].got), fh_str(cases[i].expected), 1e-3) != cases[i].equal)
			fail_msg("%s: \"%s\" and \"%s\"", fh_compare_name(cases[i].rule), cases[i].expected, cases[i].got);
	for (enum fh_compare rule = 0; rule < FH_COMPARE_COUNT_; rule++)
		assert_int_equal(fh_compare_of_name(fh_compare_name(rule)), rule);
	assert_int_equal(fh_compare_of_name("?"), FH_COMPARE_COUNT_);
	assert_true(fh_compare_output(FH_COMPARE_NUMBERS, fh_str("1.0"), fh_str("1"), 0));
	assert_false(fh_compare_output(FH_COMPARE_NUMBERS, fh_str("9007199254740993.0"), fh_str("9007199254740992"), 0));
	assert_false(fh_compare_output(FH_COMPARE_NUMBERS, fh_str("1e-999"), fh_str("0"), 0));
	assert_false(fh_compare_output(FH_COMPARE_NUMBERS, fh_str("4e-324"), fh_str("5e-324"), 0));
	assert_true(fh_compare_output(FH_COMPARE_NUMBERS, fh_str("0.00"), fh_str("0"), 0));
	assert_false(fh_compare_output(FH_COMPARE_TRIMMED, (struct fh_str){ "a\0b", 3 }, (struct fh_str){ "a\0c", 3 }, 0));
}

static void json_becomes_python_exactly(void **state)
{
	static const char *const cases[][2] = {
		{ "[true, false, null]", "[True, False, None]" },
		{ "{\"a\": 1.0, \"b\": 1, \"c\": -1e5}", "{\"a\": 1.0, \"b\": 1, \"c\": -1e5}" },
		{ "123456789012345678901234567890", "123456789012345678901234567890" },
		{ "\"true \\\" \\\\ \\/ \\u00e9 \\ud83d\\ude00 \\ud83d\"", "\"true \\\" \\\\ / \\u00e9 \\U0001f600 \\ud83d\"" },
		{ "\"\\u0022); import os\"", "\"\\u0022); import os\"" },
		{ "\"{x}\"", "\"{x}\"" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_python_of_json(&out, fh_str(cases[i][0]));
		assert_string_equal(fh_buf_cstr(&out), cases[i][1]);
	}
}

static void tagged_values_become_python_or_are_refused(void **state)
{
	static const char *const good[][2] = {
		{ "[1, 1.0, -0.0, \"a\\\"\\n\", null, true]", "[1,1.0,-0.0,\"a\\\"\\x0a\",None,True,]" },
		{ "{\"$tuple\": [{\"$set\": [1]}, {\"$frozenset\": []}]}", "(set([1,]),frozenset([]),)" },
		{ "{\"$dict\": [{\"$tuple\": [\"k\", 2]}]}", "dict([(\"k\",2,),])" },
		{ "{\"$int\": \"-0x123456789abcdef01\"}", "-0x123456789abcdef01" },
		{ "{\"$text\": [200000, \"ab\"]}", "LongText(200000,\"ab\",)" },
		{ "{\"$float\": \"-inf\"}", "float(\"-inf\")" },
		{ "{\"$complex\": [1.5, 2.0]}", "complex(1.5,2.0,)" },
	};
	static const char *const bad[] = {
		"{\"$other\": \"object\"}",
		"{}",
		"{\"$int\": \"0x1;x\"}",
		"{\"$int\": \"\"}",
		"{\"$int\": 1}",
		"{\"$float\": \"x\"}",
		"{\"$tuple\": 1}",
		"[[{\"$int\": \"-0x\"}]]",
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(good); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_auto_json json_t *value = fh_json_parse(fh_str(good[i][0]), NULL, NULL);
		assert_int_equal(fh_python_of_value(&out, value, NULL), 0);
		assert_string_equal(fh_buf_cstr(&out), good[i][1]);
	}
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		fh_auto_json json_t *value = fh_json_parse(fh_str(bad[i]), NULL, NULL);
		assert_int_equal(fh_python_of_value(&out, value, NULL), -FH_E_CONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_takes_its_differences_and_no_others),
		cmocka_unit_test(json_becomes_python_exactly),
		cmocka_unit_test(tagged_values_become_python_or_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
