/* SPDX-License-Identifier: MIT */
/* Comparison of what a program returned with what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "judge/common/finite.h"
#include "judge/comparing/value.h"

static json_t *parse(const char *text)
{
	struct fh_error err = FH_ERROR_INIT;
	json_t *j = fh_json_parse(fh_str(text), NULL, &err);
	if (!j)
		fail_msg("%s: %s", text, err.message);
	return j;
}

static void test_equality(void **state)
{
	static const struct {
		const char *encoded, *expected;
		double tolerance;
		bool equal;
	} rows[] = {
		{ "120", "120", 0, true },
		{ "24", "120", 0, false },
		{ "2.0", "2", 0, true },
		{ "true", "1", 0, false },
		{ "1", "true", 0, false },
		{ "null", "null", 0, true },
		{ "null", "false", 0, false },
		{ "\"120\"", "120", 0, false },
		{ "120", "\"120\"", 0, false },
		{ "\"a\\u0000b\"", "\"a\"", 0, false },
		{ "[1, [2, 3]]", "[1, [2, 3]]", 0, true },
		{ "[1, 2]", "[2, 1]", 0, false },
		{ "[1, 2, 3]", "[1, 2]", 0, false },
		{ "{\"$dict\": [[\"b\", 2], [\"a\", 1]]}", "{\"a\": 1, \"b\": 2}", 0, true },
		{ "{\"$dict\": [[\"a\", 1], [\"a\", 1]]}", "{\"a\": 1, \"b\": 2}", 0, false },
		{ "{\"$dict\": [[1, 1]]}", "{\"1\": 1}", 0, false },
		{ "{\"$dict\": [[\"a\\u0000b\", 1]]}", "{\"a\": 1}", 0, false },
		{ "{\"$dict\": [[\"a\\u0000b\", 1]]}", "{\"a\\u0000b\": 1}", 0, true },
		{ "{\"$dict\": [[\"a\", 1], [\"a\\u0000b\", 1]]}", "{\"a\": 1, \"a\\u0000c\": 1}", 0, false },
		{ "{\"$int\": \"--5\"}", "0", 0, false },
		{ "{\"$int\": \"-\"}", "0", 0, false },
		{ "{\"$int\": \"-5\"}", "-5", 0, true },
		{ "{\"$dict\": []}", "{}", 0, true },
		{ "{\"a\": 1}", "{\"a\": 1}", 0, false }, /* an object that is no tag is forged */
		{ "{\"$other\": \"{1}\"}", "[1]", 0, false },
		{ "{\"$other\": \"x\"}", "\"x\"", 0, false },
		{ "{\"$float\": \"nan\"}", "0", 1, false },
		{ "{\"$float\": \"inf\"}", "1e308", 1000, false },
		{ "{\"$int\": \"36893488147419103232\"}", "36893488147419103232", 0, true },
		{ "{\"$int\": \"36893488147419103232x\"}", "36893488147419103232", 0, false },
		{ "0.30000000000000004", "0.3", 0, false },
		{ "0.30000000000000004", "0.3", 1e-9, true },
		{ "[0.30000000000000004]", "[0.3]", 1e-9, true },
		{ "1000001", "1000000", 1e-5, true },
		{ "1000100", "1000000", 1e-5, false },
		{ "9007199254740993", "9007199254740992", 0, false },
		/* factorial(20), and what is not it but the same double */
		{ "{\"$int\": \"2432902008176640000\"}", "2432902008176640000", 0, true },
		{ "{\"$int\": \"2432902008176640001\"}", "2432902008176640000", 0, false },
		{ "{\"$int\": \"2432902008176640001\"}", "2432902008176640000", 1e-15, true },
		{ "{\"$int\": \"-2432902008176640001\"}", "-2432902008176640000", 0, false },
		{ "{\"$int\": \"9223372036854775808\"}", "9223372036854775807", 0, false },
		{ "2432902008176640000.0", "2432902008176640000", 0, true },
		/* 2^70, which was read as the double that it is */
		{ "{\"$int\": \"1180591620717411303424\"}", "1180591620717411303424", 0, true },
		{ "{\"$int\": \"1180591620717411303425\"}", "1180591620717411303424", 0, false },
		{ "{\"$int\": \"1180591620717411303425\"}", "1180591620717411303424", 1e-15, true },
		{ "{\"$int\": \"-1180591620717411303424\"}", "1180591620717411303424", 0, false },
		{ "1180591620717411303424.0", "1180591620717411303424", 0, true },
		{ "9007199254740992.0", "9007199254740993", 0, false },
		{ "9223372036854775808.0", "9223372036854775807", 0, false },
		{ "9007199254740993", "9007199254740992.0", 0, false },
		{ "-9223372036854775808.0", "-9223372036854775808", 0, true },
		{ "{\"$int\": \"9007199254740993\"}", "9007199254740992.0", 0, false },
		/* JavaScript's fibonacci(90): a double, which its literal 2880067194370816120 is, too */
		{ "{\"$double\": 2880067194370816000}", "2880067194370816120", 0, true },
		{ "{\"$double\": 2880067194370815488}", "2880067194370816120", 0, false },
		{ "{\"$double\": \"1\"}", "1", 0, false },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_json json_t *a = parse(rows[i].encoded), *b = parse(rows[i].expected);
		if (fh_value_equal(a, b, rows[i].tolerance) != rows[i].equal)
			fail_msg("%s and %s", rows[i].encoded, rows[i].expected);
	}
	assert_false(fh_value_equal(NULL, json_null(), 0));
}

static void test_mentions_of_numbers_that_are_not_finite(void **state)
{
	static const struct {
		const char *test;
		bool mentioned;
	} rows[] = {
		{ "assert f(1) == float('inf')", true },
		{ "assert(std::isnan(f(1)));", true },
		{ "Double.POSITIVE_INFINITY", true },
		{ "f64::NAN", true },
		{ "numeric_limits<float>::quiet_NaN()", true },
		{ "assert f('banana') == 'information'", false },
		{ "if (abs(a - b) > 1e-4) return false;", false },
		{ "", false },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		if (fh_not_finite_mentioned(fh_str(rows[i].test)) != rows[i].mentioned)
			fail_msg("%s", rows[i].test);
}

static void test_text(void **state)
{
	static const struct {
		const char *value, *language, *text;
	} rows[] = {
		{ "true", "python", "True" },
		{ "null", "python", "None" },
		{ "\"it's\"", "python", "\"it's\"" },
		{ "[1, \"a\", {\"k\": false}]", "python", "[1, 'a', {'k': False}]" },
		{ "[1, \"a\", {\"k\": false}]", "javascript", "[1,\"a\",{\"k\":false}]" },
		{ "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "python", "'aaaaaaaaaaaaaaaaaaaaaaa…" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_json json_t *j = parse(rows[i].value);
		fh_auto_free char *text = fh_value_text(j, rows[i].language, 24);
		assert_string_equal(text, rows[i].text);
	}
}

static void test_output(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "1\n2\n", "1\n2", true },  { "1 \r\n2\n\n\n", "1\n2", true },
		{ "1\n\n2", "1\n2", false }, { " 1", "1", false },
		{ "", "\n", true },          { "1", "1x", false },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		assert_int_equal(fh_output_equal(fh_str(rows[i].a), fh_str(rows[i].b)), rows[i].equal);
		assert_int_equal(fh_output_equal(fh_str(rows[i].b), fh_str(rows[i].a)), rows[i].equal);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equality),
		cmocka_unit_test(test_mentions_of_numbers_that_are_not_finite),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
