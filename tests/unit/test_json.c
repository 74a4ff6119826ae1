/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>
#include "json/json.h"

/* Reads `text` and writes it back on one line. */
static void check(const char *text, const char *expected)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *value = fh_json_parse(fh_str(text), "t", &err);
	if (!value)
		fail_msg("%s: %u:%u: %s", text, err.line, err.column, err.message);
	fh_auto_free char *back = fh_json_text(value, 0);
	assert_string_equal(back, expected);
}

static void refuse(const char *text, uint32_t line, uint32_t column, const char *part)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *value = fh_json_parse(fh_str(text), "data.json", &err);
	if (value)
		fail_msg("%s was accepted", text);
	assert_int_equal(err.code, FH_E_CONFIG);
	assert_string_equal(err.file, "data.json");
	if (!strstr(err.message, part))
		fail_msg("%s: the message '%s' lacks '%s'", text, err.message, part);
	assert_int_equal(err.line, line);
	assert_int_equal(err.column, column);
}

static void reads_and_writes_values(void **state)
{
	(void)state;
	check("null", "null");
	check(" [ true , false ] ", "[true,false]");
	check("{}", "{}");
	check("\xEF\xBB\xBF[1]", "[1]");
	check("{\"b\":1,\"a\":[1,{\"c\":\"x\"}],\"b\":2}", "{\"b\":2,\"a\":[1,{\"c\":\"x\"}]}");
	check("\"\\u0041\\n\\/\\u00e9\\ud83d\\ude00\"", "\"A\\n/é😀\"");
	check("\"a\\u0000b\"", "\"a\\u0000b\"");
	check("{\"a\\u0000b\":1}", "{\"a\\u0000b\":1}");
	check("\"\\ud800x\\udc00\"", "\"\xEF\xBF\xBDx\xEF\xBF\xBD\"");
	check("\"\\b\\f\\r\\t\\u001f\\u007f\"", "\"\\b\\f\\r\\t\\u001f\x7f\"");
}

static void reads_numbers_as_javascript_prints_them(void **state)
{
	(void)state;
	check("[0,-0,1.0,0.1,0.30000000000000004,1e21,1e20,1e-6,1e-7,5e-324,1.7976931348623157e308]",
	      "[0,0,1,0.1,0.30000000000000004,1e+21,100000000000000000000,0.000001,1e-7,5e-324,1.7976931348623157e+308]");
	check("[9223372036854775807,-9223372036854775808]", "[9223372036854775807,-9223372036854775808]");
	check("123456789012345678901234567890", "1.2345678901234568e+29");
	check("[5.684341886080801486968994140625e-14,5.9604644775390625e-8,9007199254740993,5."
	      "316911983139663491615228241121378304e36]",
	      "[5.684341886080802e-14,5.960464477539063e-8,9007199254740993,5.316911983139664e+36]");
	check("[123.456,-1.5e3,2.5E-3,4.35,100]", "[123.456,-1500,0.0025,4.35,100]");
	struct fh_buf out = FH_BUF_INIT(0);
	fh_json_write_number(&out, NAN);
	fh_json_write_number(&out, -INFINITY);
	assert_string_equal(out.p, "NaN-Infinity");
	fh_buf_release(&out);
}

static void keeps_reals_apart_from_integers_where_asked(void **state)
{
	(void)state;
	fh_auto_json json_t *value =
	    fh_json_parse(fh_str("{\"a\": [1, 1.0, -2e3, 0.5, 1e20, 1e21, 0.0, true]}"), NULL, NULL);
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_json_write_typed(&out, value);
	assert_string_equal(fh_buf_cstr(&out), "{\"a\":[1,1.0,-2000.0,0.5,100000000000000000000.0,1e+21,0.0,true]}");
}

static void indents_as_javascript_does(void **state)
{
	(void)state;
	fh_auto_json json_t *value = fh_json_parse(fh_str("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":2}]}"), NULL, NULL);
	fh_auto_free char *text = fh_json_text(value, 2);
	assert_string_equal(text,
	                    "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": 2\n    }\n  ]\n}");
}

static void says_where_it_is_wrong(void **state)
{
	(void)state;
	refuse("", 1, 1, "end of the text");
	refuse("{\n  \"a\": 1,\n  b: 2\n}", 3, 3, "key in double quotes");
	refuse("[1 2]", 1, 4, "expected , or ]");
	refuse("[1,]", 1, 4, "not ']'");
	refuse("{\"a\" 1}", 1, 6, "expected :");
	refuse("{\"a\":1", 1, 7, "expected , or }");
	refuse("[\"é\", 'x']", 1, 7, "expected a JSON value");
	refuse("\"abc", 1, 1, "not closed");
	refuse("\"a\nb\"", 1, 3, "control character");
	refuse("\"\\x\"", 1, 2, "unknown escape");
	refuse("\"\\u12g4\"", 1, 2, "four hexadecimal");
	refuse("[01]", 1, 2, "bad number");
	refuse("[1.]", 1, 2, "digits must follow the point");
	refuse("[1e999]", 1, 2, "out of range");
	refuse("1 x", 1, 3, "end of the text after the value");
	refuse("\"\xff\"", 1, 2, "not valid UTF-8");
	refuse("nul", 1, 1, "expected a JSON value");
}

static void bounds_depth(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	for (int i = 0; i < FH_JSON_DEPTH_MAX; i++)
		fh_buf_addc(&text, '[');
	for (int i = 0; i < FH_JSON_DEPTH_MAX; i++)
		fh_buf_addc(&text, ']');
	fh_auto_json json_t *deep = fh_json_parse(fh_buf_str(&text), NULL, NULL);
	assert_non_null(deep);
	fh_auto_free char *deeper = fh_xasprintf("[%s]", text.p);
	struct fh_error err = FH_ERROR_INIT;
	assert_null(fh_json_parse(fh_str(deeper), NULL, &err));
	assert_non_null(strstr(err.message, "512 levels"));
}

static void escapes_bytes_that_are_not_text(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_json_write_string(&out, (struct fh_str){ "a\xff\"\xe2\x82z", 6 });
	assert_string_equal(out.p, "\"a\xEF\xBF\xBD\\\"\xEF\xBF\xBDz\"");
	fh_auto_json json_t *s = fh_json_bytes((struct fh_str){ "\x80x\0y", 4 });
	assert_int_equal(json_string_length(s), 6);
	assert_memory_equal(json_string_value(s), "\xEF\xBF\xBDx\0y", 6);
}

/* Strings are looked at eight bytes at a time: each character that needs something is found at each place of them, and
 * its neighbours in the alphabet are left alone. */
static void finds_what_to_escape_at_every_place(void **state)
{
	(void)state;
	for (size_t at = 0; at < 20; at++)
		for (unsigned c = 0; c < 256; c++) {
			char text[20], expected[40];
			memset(text, 'a', sizeof(text));
			text[at] = (char)c;
			fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
			fh_json_write_string(&out, (struct fh_str){ text, sizeof(text) });
			snprintf(expected, sizeof(expected), "\"%.*s%c", (int)at, text, c);
			bool plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
			assert_int_equal(plain, memcmp(out.p, expected, at + 2) == 0 && out.n == sizeof(text) + 2);
			fh_auto_json json_t *back = fh_json_parse(fh_buf_str(&out), NULL, NULL);
			assert_true(c >= 0x80 || json_string_length(back) == sizeof(text));
		}
}

static void looks_up_typed_members(void **state)
{
	(void)state;
	fh_auto_json json_t *o = fh_json_parse(fh_str("{\"s\":\"x\",\"i\":3,\"r\":4.0,\"h\":0.5,\"b\":true}"), NULL, NULL);
	assert_string_equal(fh_json_str(o, "s", NULL), "x");
	assert_null(fh_json_str(o, "i", NULL));
	assert_int_equal(fh_json_int(o, "i", 0), 3);
	assert_int_equal(fh_json_int(o, "r", 0), 4);
	assert_int_equal(fh_json_int(o, "h", -1), -1);
	assert_true(fh_json_num(o, "i", 0) == 3.0);
	assert_true(fh_json_bool(o, "b", false));
	assert_true(fh_json_bool(o, "missing", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes_values),
		cmocka_unit_test(reads_numbers_as_javascript_prints_them),
		cmocka_unit_test(keeps_reals_apart_from_integers_where_asked),
		cmocka_unit_test(indents_as_javascript_does),
		cmocka_unit_test(says_where_it_is_wrong),
		cmocka_unit_test(bounds_depth),
		cmocka_unit_test(escapes_bytes_that_are_not_text),
		cmocka_unit_test(finds_what_to_escape_at_every_place),
		cmocka_unit_test(looks_up_typed_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
