/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text/case.h"
#include "base/text/parse.h"
#include "base/path.h"
#include "base/utf8.h"

static void a_buffer_refuses_what_goes_beyond_its_ceiling(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(4);
	assert_string_equal(fh_buf_cstr(&b), "");
	assert_int_equal(fh_buf_adds(&b, "abc"), 0);
	assert_int_equal(fh_buf_adds(&b, "de"), -FH_E_LIMIT);
	assert_true(b.overflowed);
	assert_string_equal(b.p, "abc");
	assert_int_equal(fh_buf_addc(&b, 'd'), 0);
	assert_null(fh_buf_reserve(&b, 1));
	assert_null(fh_buf_reserve(&b, SIZE_MAX));
	fh_buf_drop(&b, 1);
	assert_string_equal(b.p, "bcd");
	fh_buf_truncate(&b, 1);
	assert_string_equal(b.p, "b");
}

static void a_buffer_grows_formats_and_copies_itself(void **state)
{
	(void)state;
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	for (int i = 0; i < 1000; i++)
		fh_buf_addf(&b, "%d,", i);
	assert_int_equal(b.n, 3890);
	fh_buf_add(&b, b.p, b.n);
	assert_int_equal(b.n, 7780);
	assert_memory_equal(b.p, b.p + 3890, 3890);
	fh_buf_truncate(&b, 0);
	fh_buf_addf(&b, "%0*d", 5000, 7);
	assert_int_equal(b.n, 5000);
	assert_int_equal(strlen(b.p), 5000);
	size_t n;
	fh_auto_free char *taken = fh_buf_take(&b, &n);
	assert_int_equal(n, 5000);
	assert_null(b.p);
	fh_auto_free char *empty = fh_buf_take(&b, &n);
	assert_string_equal(empty, "");
}

static void a_buffer_writes_integers(void **state)
{
	(void)state;
	static const int64_t numbers[] = { 0, 7, -7, 10, 99, 100, -100, 1000000007, INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < FH_ARRAY_SIZE(numbers); i++) {
		char expected[32];
		fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
		snprintf(expected, sizeof(expected), "%lld", (long long)numbers[i]);
		assert_int_equal(fh_buf_addi(&b, numbers[i]), 0);
		assert_string_equal(fh_buf_cstr(&b), expected);
	}
	fh_auto_buf struct fh_buf small = FH_BUF_INIT(3);
	assert_int_equal(fh_buf_addi(&small, 1234), -FH_E_LIMIT);
	assert_int_equal(small.n, 0);
}

static void letters_change_their_case_as_in_javascript(void **state)
{
	static const struct {
		const char *text, *lower, *upper;
	} cases[] = {
		{ "", "", "" },
		{ "aZ[1]", "az[1]", "AZ[1]" },
		{ "ÄÖ É", "äö é", "ÄÖ É" },
		{ "ΟΔΟΣ ΑΣ. Σ ΑΣΒ", "οδος ας. σ ασβ", "ΟΔΟΣ ΑΣ. Σ ΑΣΒ" },
		{ "Α'Σ ΑΣ'Α ΣΣ", "α'ς ασ'α σς", "Α'Σ ΑΣ'Α ΣΣ" },
		{ "ß ŉ ǰ ﬁ ς", "ß ŉ ǰ ﬁ ς", "SS ʼN J̌ FI Σ" },
		{ "İI", "i̇i", "İI" },
		{ "a\xff\xc3Z", "a\xff\xc3z", "A\xff\xc3Z" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_buf struct fh_buf lower = FH_BUF_INIT(0), upper = FH_BUF_INIT(0);
		fh_case_lower(&lower, fh_str(cases[i].text));
		fh_case_upper(&upper, fh_str(cases[i].text));
		assert_string_equal(fh_buf_cstr(&lower), cases[i].lower);
		assert_string_equal(fh_buf_cstr(&upper), cases[i].upper);
	}
}

static void utf8_is_strict(void **state)
{
	(void)state;
	static const char *const bad[] = { "\x80",
		                               "\xC0\x80",
		                               "\xC1\xBF",
		                               "\xE0\x9F\xBF",
		                               "\xED\xA0\x80",
		                               "\xF0\x8F\xBF\xBF",
		                               "\xF4\x90\x80\x80",
		                               "\xF5\x80\x80\x80",
		                               "\xFF",
		                               "\xE2\x82",
		                               "a\xC3" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++)
		assert_false(fh_utf8_valid(fh_str(bad[i])));
	assert_true(fh_utf8_valid(fh_str("aé€😀\xF4\x8F\xBF\xBF\xED\x9F\xBF")));
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp += cp < 0x3000 ? 1 : 257) {
		if (cp >= 0xD800 && cp < 0xE000)
			continue;
		char utf8[4];
		uint32_t back = UINT32_MAX;
		size_t n = fh_utf8_encode(cp, utf8);
		assert_int_equal(fh_utf8_decode((struct fh_str){ utf8, n }, &back), n);
		assert_int_equal(back, cp);
	}
}

static void utf8_is_mended_as_python_does(void **state)
{
	(void)state;
	/* bytes.decode("utf-8", "replace") gives as many U+FFFD (here: ?). */
	static const char *const cases[][2] = { { "a\xE2\x82z", "a?z" },     { "\xE2\x82", "?" },
		                                    { "\xED\xA0\x80", "???" },   { "\xF0\x9F\x98", "?" },
		                                    { "\xF0\x80\x80x", "???x" }, { "\xC3\xA9\xFF", "\xC3\xA9?" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), expected = FH_BUF_INIT(0);
		fh_utf8_sanitize(&out, fh_str(cases[i][0]));
		for (const char *p = cases[i][1]; *p; p++)
			if (*p == '?')
				fh_buf_adds(&expected, "\xEF\xBF\xBD");
			else
				fh_buf_addc(&expected, *p);
		assert_string_equal(out.p, expected.p);
	}
}

static void check_escape(void (*escape)(struct fh_buf *, struct fh_str), const char *in, const char *expected)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	escape(&out, fh_str(in));
	assert_string_equal(fh_buf_cstr(&out), expected);
}

static void terminal_line(struct fh_buf *out, struct fh_str s)
{
	fh_escape_terminal(out, s, false);
}

static void terminal_text(struct fh_buf *out, struct fh_str s)
{
	fh_escape_terminal(out, s, true);
}

static void each_sink_has_its_escaper(void **state)
{
	(void)state;
	check_escape(terminal_line, "a\x1b[31m\tb\nc\r\x7f", "a\\x1b[31m\\tb\\nc\\r\\x7f");
	check_escape(terminal_text, "a\tb\nc\rd", "a\tb\nc\\rd");
	check_escape(terminal_line, "é\xC2\x9B\xE2\x80\xAE\xff", "é\\u009b\\u202e\\xff");
	check_escape(fh_escape_html, "<a href=\"x\">&'\x01\xff",
	             "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xEF\xBF\xBD\xEF\xBF\xBD");
	check_escape(fh_escape_csv, "a,b", "\"a,b\"");
	check_escape(fh_escape_csv, "say \"hi\"\n", "\"say \"\"hi\"\"\n\"");
	check_escape(fh_escape_csv, "=1+1", "'=1+1");
	check_escape(fh_escape_csv, "plain", "plain");
	check_escape(fh_escape_shell, "a/b-c.py", "a/b-c.py");
	check_escape(fh_escape_shell, "it's $HOME", "'it'\\''s $HOME'");
	check_escape(fh_escape_shell, "", "''");
	check_escape(fh_escape_fish, "it's $HOME\\", "'it\\'s $HOME\\\\'");
}

static void check_clean(const char *in, const char *expected)
{
	fh_auto_free char *out = fh_path_clean(in);
	assert_string_equal(out, expected);
}

static void paths_are_cleaned_as_text(void **state)
{
	(void)state;
	check_clean("", ".");
	check_clean("/", "/");
	check_clean("//a//./b/../c/", "/a/c");
	check_clean("/../..", "/");
	check_clean("../a/../../b", "../../b");
	check_clean("a/..", ".");
	check_clean("a/../..", "..");
	check_clean("./a", "a");
	check_clean("/a/../../b", "/b");
}

static void paths_are_taken_apart(void **state)
{
	(void)state;
	static const char *const cases[][4] = {
		{ "a/b.py", "a", "b.py", ".py" }, { "b", ".", "b", "" },    { "/b", "/", "b", "" },
		{ "a/.env", "a", ".env", "" },    { "a//b", "a", "b", "" }, { "x.tar.gz", ".", "x.tar.gz", ".gz" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_free char *dir = fh_path_dir(cases[i][0]);
		assert_string_equal(dir, cases[i][1]);
		assert_string_equal(fh_path_base(cases[i][0]), cases[i][2]);
		assert_string_equal(fh_path_ext(cases[i][0]), cases[i][3]);
	}
	assert_true(fh_path_within("/a/b", "/a"));
	assert_true(fh_path_within("/a", "/a"));
	assert_true(fh_path_within("/a", "/"));
	assert_false(fh_path_within("/ab", "/a"));
	fh_auto_free char *joined = fh_path_join("a/", "b");
	assert_string_equal(joined, "a/b");
	fh_auto_free char *sh = fh_path_which("sh", "/no/such:/bin");
	assert_string_equal(sh, "/bin/sh");
	assert_null(fh_path_which("sh", "/no/such"));
	assert_null(fh_path_which("/etc/passwd", NULL));
}

static void numbers_are_checked_to_the_last_character(void **state)
{
	(void)state;
	uint64_t u = 7;
	double d = 7;
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_parse_u64("18446744073709551615", 0, UINT64_MAX, &u, &err), 0);
	assert_true(u == UINT64_MAX);
	static const char *const bad[] = { "", " 1", "1 ", "-1", "+1", "0x10", "1e3", "18446744073709551616", "65" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++)
		assert_int_equal(fh_parse_u64(bad[i], 1, 64, &u, &err), -FH_E_ARGUMENT);
	assert_non_null(strstr(err.message, "from 1 to 64"));
	assert_int_equal(fh_parse_double("-0.5e1", -10, 10, &d, &err), 0);
	assert_true(d == -5);
	static const char *const bad_real[] = { "nan", "inf", "0x1p3", "1e999", " 1", "1.5x", "", ".", "11" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad_real); i++)
		assert_int_equal(fh_parse_double(bad_real[i], -10, 10, &d, &err), -FH_E_ARGUMENT);
	assert_true(d == -5);
}

static void sizes_and_durations_have_units(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t value;
	} sizes[] = { { "4096", 4096 },
		          { "512M", 512 << 20 },
		          { "1.5g", 3LL << 29 },
		          { "2KiB", 2048 },
		          { "1kb", 1024 },
		          { "1T", 1LL << 40 },
		          { "7B", 7 },
		          { "-1", -1 },
		          { "1X", -1 },
		          { "M", -1 },
		          { "1e30", -1 },
		          { "1 M", -1 },
		          { "", -1 },
		          { "0", 0 },
		          { "1MM", -1 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(sizes); i++) {
		uint64_t v = UINT64_MAX;
		int r = fh_parse_size(sizes[i].text, &v, NULL);
		assert_int_equal(r, sizes[i].value < 0 ? -FH_E_ARGUMENT : 0);
		assert_true(r < 0 ? v == UINT64_MAX : v == (uint64_t)sizes[i].value);
	}
	static const struct {
		const char *text;
		int64_t value;
	} durations[] = { { "10", 10000 },  { "0.5", 500 },    { "250ms", 250 }, { "10s", 10000 },
		              { "2m", 120000 }, { "1h", 3600000 }, { "0", 0 },       { "0.0001", 1 },
		              { "-1", -1 },     { "1d", -1 },      { "s", -1 },      { "1e300", -1 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(durations); i++) {
		uint64_t v = UINT64_MAX;
		int r = fh_parse_duration(durations[i].text, &v, NULL);
		assert_int_equal(r, durations[i].value < 0 ? -FH_E_ARGUMENT : 0);
		assert_true(r < 0 ? v == UINT64_MAX : v == (uint64_t)durations[i].value);
	}
}

static void an_error_is_one_line_for_a_person(void **state)
{
	(void)state;
	struct fh_error err = FH_ERROR_INIT;
	char text[2048];
	assert_int_equal(fh_error_at(&err, "c.yaml", 3, 7, "unknown key \x1b'%s'", "x"), -FH_E_CONFIG);
	fh_error_hint(&err, "remove it");
	assert_int_equal(fh_error_wrap(&err, "read config"), -FH_E_CONFIG);
	assert_string_equal(fh_error_text(&err, text, sizeof(text)),
	                    "c.yaml:3:7: read config: unknown key \\x1b'x'\nhint: remove it");
	assert_int_equal(fh_error_sys(&err, ENOENT, "cannot open %s", "f"), -FH_E_SYSTEM);
	assert_string_equal(err.message, "cannot open f: No such file or directory");
	assert_int_equal(err.sys, ENOENT);
	assert_string_equal(err.hint, "");
	fh_auto_free char *longest = fh_xasprintf("%0600d", 1);
	fh_error_wrap(&err, "%s", longest);
	assert_non_null(strstr(err.message, "0: cannot open f: No such file or directory"));
	assert_int_equal(fh_error_set(NULL, FH_E_LIMIT, "x"), -FH_E_LIMIT);
	assert_string_equal(fh_code_name(FH_E_NOT_FOUND), "not_found");
	assert_string_equal(fh_code_name((enum fh_code)99), "unknown");
	assert_string_equal(fh_phase_name(FH_PHASE_SPAWN), "spawn");
	for (int i = 0; i < FH_CODE_COUNT_; i++)
		assert_non_null(fh_code_name((enum fh_code)i));
}

static void time_is_written_as_iso(void **state)
{
	(void)state;
	char buf[32];
	assert_string_equal(fh_iso_time(1795268759123, buf), "2026-11-21T13:45:59.123Z");
	assert_string_equal(fh_iso_time(-1, buf), "1969-12-31T23:59:59.999Z");
	int64_t before = fh_now_ns();
	fh_sleep_ns(2 * FH_NS_PER_MS);
	assert_true(fh_now_ns() - before >= 2 * FH_NS_PER_MS);
}

static int asked;

static int next(void)
{
	return ++asked;
}

static void asks_once_for_the_lesser_and_the_greater(void **state)
{
	(void)state;
	asked = 0;
	assert_int_equal(FH_MAX(next(), 0), 1);
	assert_int_equal(FH_MIN(next(), 9), 2);
	assert_int_equal(FH_MAX(FH_MIN(next(), 9), -1), 3);
	assert_int_equal(asked, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_once_for_the_lesser_and_the_greater),
		cmocka_unit_test(a_buffer_refuses_what_goes_beyond_its_ceiling),
		cmocka_unit_test(a_buffer_grows_formats_and_copies_itself),
		cmocka_unit_test(a_buffer_writes_integers),
		cmocka_unit_test(letters_change_their_case_as_in_javascript),
		cmocka_unit_test(utf8_is_strict),
		cmocka_unit_test(utf8_is_mended_as_python_does),
		cmocka_unit_test(each_sink_has_its_escaper),
		cmocka_unit_test(paths_are_cleaned_as_text),
		cmocka_unit_test(paths_are_taken_apart),
		cmocka_unit_test(numbers_are_checked_to_the_last_character),
		cmocka_unit_test(sizes_and_durations_have_units),
		cmocka_unit_test(an_error_is_one_line_for_a_person),
		cmocka_unit_test(time_is_written_as_iso),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
