/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/escape.h"
#include "base/utf8.h"
#include "json/yaml.h"

static void check(const char *text, const char *expected)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *value = fh_yaml_load(fh_str(text), "t.yaml", NULL, &err);
	if (!value)
		fail_msg("%s\n%u:%u: %s", text, err.line, err.column, err.message);
	fh_auto_free char *json = fh_json_text(value, 0);
	assert_string_equal(json, expected);
}

static void refuse(const char *text, uint32_t line, uint32_t column, const char *message, const char *hint)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_json json_t *value = fh_yaml_load(fh_str(text), "t.yaml", NULL, &err);
	if (value)
		fail_msg("accepted: %s", text);
	assert_int_equal(err.code, FH_E_CONFIG);
	assert_string_equal(err.file, "t.yaml");
	if (!strstr(err.message, message) || !strstr(err.hint, hint) || err.line != line || err.column != column)
		fail_msg("%s\ngave %u:%u: %s (%s)\ninstead of %u:%u: %s (%s)", text, err.line, err.column, err.message,
		         err.hint, line, column, message, hint);
}

static void plain_scalars_follow_the_core_schema(void **state)
{
	(void)state;
	check("[true, False, null, ~, yes, no, on, off, 'true', \"1\"]",
	      "[true,false,null,null,\"yes\",\"no\",\"on\",\"off\",\"true\",\"1\"]");
	check("[0, -12, +3, 012, 0x1F, 0o17, 1.5, .5, 1., 1e3, -2.5E-1, 007.5]",
	      "[0,-12,3,\"012\",31,15,1.5,0.5,1,1000,-0.25,\"007.5\"]");
	check("[1_000, 1.2.3, 0x, 1e, '', -, +, ., 2026-11-21, 12:30]",
	      "[\"1_000\",\"1.2.3\",\"0x\",\"1e\",\"\",\"-\",\"+\",\".\",\"2026-11-21\",\"12:30\"]");
	check("a:\nb: \nc: 99999999999999999999", "{\"a\":null,\"b\":null,\"c\":100000000000000000000}");
	check("[!!str 1, !!int 012, !!float 2, !!bool true, !!null ~, ! 5]", "[\"1\",12,2,true,null,\"5\"]");
}

static void texts_keep_their_form(void **state)
{
	(void)state;
	check("a: |\n  x\n   y\nb: >-\n  one\n  two\n", "{\"a\":\"x\\n y\\n\",\"b\":\"one two\"}");
	check("a: \"\\u00e9\\n\\x41\\0\"\nb: 'it''s'", "{\"a\":\"é\\nA\\u0000\",\"b\":\"it's\"}");
	check("", "null");
	check("# only a comment\n", "null");
	check("\xEF\xBB\xBFk: v", "{\"k\":\"v\"}");
	check("--- \nk: v\n...\n", "{\"k\":\"v\"}");
	check("1: a\ntrue: b", "{\"1\":\"a\",\"true\":\"b\"}");
}

static void a_json_file_is_a_yaml_file(void **state)
{
	(void)state;
	check("{\n\t\"a\": [1, 2.5, null],\n\t\"b\": {\"c\\/d\": \"x\"}\n}\n",
	      "{\"a\":[1,2.5,null],\"b\":{\"c/d\":\"x\"}}");
	check("{\"smile\": \"\\ud83d\\ude00\"}", "{\"smile\":\"😀\"}");
	/* ends of lines to YAML, characters to JSON */
	check("{\"a\": \"x\xc2\x85y\", \"b\": [\"\xe2\x80\xa8 z\", \"\xe2\x80\xa9\"]}",
	      "{\"a\":\"x\xc2\x85y\",\"b\":[\"\xe2\x80\xa8 z\",\"\xe2\x80\xa9\"]}");
}

static void every_character_of_json_is_yaml_when_escaped(void **state)
{
	for (uint32_t first = 0; first < 0x11000; first += 256) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(1 << 16), yaml = FH_BUF_INIT(1 << 16);
		for (uint32_t c = first; c < first + 256; c++)
			if (c < 0xd800 || c > 0xdfff) {
				char utf8[4];
				fh_buf_add(&text, utf8, fh_utf8_encode(c, utf8));
			}
		fh_buf_adds(&yaml, "k: ");
		fh_json_write_string(&yaml, fh_buf_str(&text));
		fh_escape_json_for_yaml(&yaml, 3);
		struct fh_error err = FH_ERROR_INIT;
		fh_auto_json json_t *value = fh_yaml_load(fh_buf_str(&yaml), "t.yaml", NULL, &err);
		const json_t *got = json_object_get(value, "k");
		if (!got)
			fail_msg("U+%04x: %s", first, err.message);
		assert_int_equal(json_string_length(got), text.n);
		assert_memory_equal(json_string_value(got), text.p, text.n);
	}
}

static void aliases_are_copies(void **state)
{
	(void)state;
	check("a: &x {k: [1, &y two]}\nb: *x\nc: *y",
	      "{\"a\":{\"k\":[1,\"two\"]},\"b\":{\"k\":[1,\"two\"]},\"c\":\"two\"}");
	check("&k a: 1\nb: *k", "{\"a\":1,\"b\":\"a\"}");
	check("- &x 1\n- *x\n- &x 2\n- *x", "[1,1,2,2]");
	fh_auto_json json_t *v = fh_yaml_load(fh_str("a: &x [1]\nb: *x"), "t", NULL, NULL);
	json_array_append_new(json_object_get(v, "a"), json_integer(2));
	assert_int_equal(json_array_size(json_object_get(v, "b")), 1);
}

static void merge_keys_take_all_their_forms(void **state)
{
	(void)state;
	check("base: &b {x: 1, y: 2}\nt:\n  <<: *b\n  y: 3\n  z: 4",
	      "{\"base\":{\"x\":1,\"y\":2},\"t\":{\"x\":1,\"y\":3,\"z\":4}}");
	check("t:\n  y: 3\n  <<: {x: 1, y: 2}", "{\"t\":{\"y\":3,\"x\":1}}");
	check("- &a {x: 1}\n- &b {x: 2, y: 2}\n- {<<: [*a, *b, {z: 3}]}",
	      "[{\"x\":1},{\"x\":2,\"y\":2},{\"x\":1,\"y\":2,\"z\":3}]");
	check("'<<': {a: 1}", "{\"<<\":{\"a\":1}}");
	refuse("t:\n  <<: 5", 2, 7, "<< takes a mapping", "");
	refuse("t:\n  <<: {x: 1}\n  x: 2\n  x: 3", 4, 3, "'x' is already in line 3", "keep one");
}

static void mistakes_are_said_with_place_and_mend(void **state)
{
	(void)state;
	refuse("a: 1\nb:\n  c: 2\na: 3", 4, 1, "the key 'a' is already in line 1", "keep one");
	refuse("a:\n\tb: 1", 2, 1, "a tab is used for indentation", "spaces");
	refuse("prompt: Hello: world", 1, 14, "unexpected ':'", "in quotes");
	refuse("a: 1\nb: \"open\nc: 2\n", 2, 4, "quote is not closed", "close it");
	refuse("a: 'it's'\nb: 2", 1, 8, "expected a key", "quote");
	refuse("a: *nope", 1, 4, "unknown alias *nope", "&nope");
	refuse("a: **bold**", 1, 4, "cannot start with *", "quotes");
	refuse("a: @user", 1, 4, "cannot start with @", "quotes");
	refuse("a: {{name}}", 1, 5, "a key must be a plain text", "{{name}}");
	refuse("a: {b: 1\nc: 2", 1, 4, "this { is not closed", "quotes");
	refuse("a: [1, 2\nb: 3", 1, 4, "this [ is not closed", "");
	refuse("a:\n  - 1\n - 2", 3, 2, "expected", "indentation");
	refuse("a: 1\nword\nb: 2", 2, 1, "a key without ':'", "key: value");
	refuse("a: \"\\d\"", 1, 5, "unknown escape", "backslash");
	refuse("a: 1\n---\nb: 2", 2, 1, "second document", "---");
	refuse("a: !secret x", 1, 4, "unknown tag", "quotes");
	refuse("a: !!python/object x", 1, 4, "unknown tag", "quotes");
	refuse("a: !!set {x}", 1, 4, "unknown tag", "!!str");
	refuse("a: !!int x", 1, 4, "!!int takes a whole number", "");
	refuse("a: .inf", 1, 4, "infinity", "quotes");
	refuse("a: 1e999", 1, 4, "out of range", "quotes");
	refuse("? [a, b]\n: c", 1, 3, "a key must be a plain text", "");
	refuse("a: ok\nb: \x01", 2, 4, "control character", "remove");
	refuse("a: ok\nb: \xff", 2, 4, "not valid UTF-8", "UTF-8");
	refuse("&a [*a]", 1, 5, "inside the value that it stands for", "");
}

static void bombs_are_refused(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_adds(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 9; i++) {
		fh_buf_addf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			fh_buf_addf(&text, "*a%d,", i - 1);
		fh_buf_adds(&text, "]\n");
	}
	struct fh_error err = FH_ERROR_INIT;
	assert_null(fh_yaml_load(fh_buf_str(&text), "bomb", NULL, &err));
	assert_non_null(strstr(err.message, "values"));
	assert_true(err.line > 1);
	fh_buf_truncate(&text, 0);
	for (unsigned i = 0; i <= FH_YAML_DEPTH_MAX; i++)
		fh_buf_addc(&text, '[');
	for (unsigned i = 0; i <= FH_YAML_DEPTH_MAX; i++)
		fh_buf_addc(&text, ']');
	/* Within JSON's own bound, but the depth is YAML's to refuse. */
	assert_null(fh_yaml_load(fh_buf_str(&text), "deep", NULL, &err));
	assert_non_null(strstr(err.message, "levels deep"));
	fh_buf_truncate(&text, 0);
	fh_buf_adds(&text, "- &a0 [x]\n");
	for (unsigned i = 1; i <= FH_YAML_DEPTH_MAX; i++)
		fh_buf_addf(&text, "- &a%u [*a%u]\n", i, i - 1);
	assert_null(fh_yaml_load(fh_buf_str(&text), "ladder", NULL, &err));
	assert_non_null(strstr(err.message, "levels deep"));
}

static void check_position(const struct fh_yaml_positions *p, const json_t *parent, const char *key, size_t index,
                           uint32_t line, uint32_t column)
{
	uint32_t at_line = 0, at_column = 0;
	assert_true(fh_yaml_position(p, parent, key, index, &at_line, &at_column));
	assert_int_equal(at_line, line);
	assert_int_equal(at_column, column);
}

static void every_member_has_its_place(void **state)
{
	(void)state;
	static const char text[] = "# head\n"
	                           "a: &x\n"
	                           "  - é: 1\n"
	                           "    key: {in: 2}\n"
	                           "b: *x\n"
	                           "c:\n"
	                           "  <<: {m: 1}\n";
	fh_auto_yaml_positions struct fh_yaml_positions *p = NULL;
	fh_auto_json json_t *root = fh_yaml_load(fh_str(text), "t", &p, NULL);
	assert_non_null(root);
	check_position(p, NULL, NULL, 0, 2, 1);
	check_position(p, root, "b", 0, 5, 1);
	const json_t *a = json_object_get(root, "a"), *b = json_object_get(root, "b");
	check_position(p, a, NULL, 0, 3, 5);
	check_position(p, json_array_get(a, 0), "key", 0, 4, 5);
	check_position(p, json_object_get(json_array_get(b, 0), "key"), "in", 0, 4, 11);
	check_position(p, json_object_get(root, "c"), "m", 0, 7, 8);
	uint32_t line = 77, column = 78;
	assert_false(fh_yaml_position(p, root, "nope", 0, &line, &column));
	assert_false(fh_yaml_position(p, a, NULL, 1, &line, &column));
	assert_false(fh_yaml_position(NULL, a, NULL, 0, &line, &column));
	assert_int_equal(line, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_scalars_follow_the_core_schema),
		cmocka_unit_test(texts_keep_their_form),
		cmocka_unit_test(a_json_file_is_a_yaml_file),
		cmocka_unit_test(every_character_of_json_is_yaml_when_escaped),
		cmocka_unit_test(aliases_are_copies),
		cmocka_unit_test(merge_keys_take_all_their_forms),
		cmocka_unit_test(mistakes_are_said_with_place_and_mend),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(every_member_has_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
