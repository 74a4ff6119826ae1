/* SPDX-License-Identifier: MIT */
/* Extraction: hand-made answers (tests/data/extract/cases.txt), real ones (smollm2.jsonl), bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/fd.h"
#include "code/extract.h"
#include "code/literal.h"
#include "code/outline.h"
#include "json/json.h"

static void read_data(const char *name, struct fh_buf *out)
{
	fh_auto_free char *path = fh_xasprintf("%s/extract/%s", FH_TEST_DATA, name);
	struct fh_error err = FH_ERROR_INIT;
	if (fh_file_read(path, out, &err))
		fail_msg("%s", err.message);
}

static void expect(const char *name, const char *language, const char *function, struct fh_str answer,
                   struct fh_str expected, bool reason)
{
	struct fh_extract_options o = { .language = language, .entry_point = function };
	fh_auto_extraction struct fh_extraction e = { 0 };
	fh_extract(answer, &o, &e);
	assert_true(!e.code != !e.reason);
	fh_auto_free char *want = fh_xstrndup(expected.p, expected.n);
	const char *got = reason ? e.reason : e.code;
	if (!got || strcmp(got, want) != 0)
		fail_msg("%s: expected\n%s\ngot\n%s", name, want, got ? got : reason ? e.code : e.reason);
	if (e.code)
		assert_int_equal(e.size, strlen(e.code));
}

/* A case of cases.txt: its first line, its answer, what is expected. */
static void run_case(struct fh_str head, struct fh_str answer, struct fh_str expected, bool reason)
{
	char language[32], function[64];
	fh_auto_free char *name = fh_xstrndup(head.p, head.n);
	if (sscanf(name, "@@ %31s %63[^:]:", language, function) != 2)
		fail_msg("not a case: %s", name);
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str line;
	while (fh_next_line(&answer, &line)) {
		const char *cr = memmem(line.p, line.n, "<CR>", 4);
		fh_buf_add(&text, line.p, cr ? (size_t)(cr - line.p) : line.n);
		fh_buf_adds(&text, cr ? "\r\n" : "\n");
	}
	if (reason && expected.n)
		expected.n--; /* a reason has no newline */
	expect(name, language, strcmp(function, "-") ? function : NULL, fh_buf_str(&text), expected, reason);
}

static void test_cases(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	read_data("cases.txt", &text);
	struct fh_str rest = fh_buf_str(&text), line, head = { NULL, 0 }, answer = { NULL, 0 }, expected = { NULL, 0 };
	bool reason = false;
	size_t count = 0;
	while (fh_next_line(&rest, &line)) {
		bool code = fh_str_eq(line, "@@code"), why = fh_str_eq(line, "@@reason");
		if (code || why) {
			answer.n = (size_t)(line.p - answer.p);
			expected.p = rest.p;
			reason = why;
		} else if (line.n > 3 && memcmp(line.p, "@@ ", 3) == 0) {
			if (head.p)
				run_case(head, answer, (struct fh_str){ expected.p, (size_t)(line.p - expected.p) }, reason);
			head = line;
			answer.p = rest.p;
			count++;
		}
	}
	run_case(head, answer, (struct fh_str){ expected.p, (size_t)(text.p + text.n - expected.p) }, reason);
	assert_true(count > 50);
}

static void test_real_answers(void **state)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	read_data("smollm2.jsonl", &text);
	struct fh_str rest = fh_buf_str(&text), line;
	size_t count = 0;
	for (; fh_next_line(&rest, &line); count++) {
		fh_auto_json json_t *j = fh_json_parse(line, NULL, NULL);
		assert_non_null(j);
		expect(fh_json_str(j, "task_id", ""), fh_json_str(j, "language", ""), fh_json_str(j, "function", ""),
		       fh_str(fh_json_str(j, "answer", "")), fh_str(fh_json_str(j, "code", "")), false);
	}
	assert_int_equal(count, 13);
}

static void test_says_whether_the_function_is_there(void **state)
{
	struct fh_extract_options o = { .language = "python", .entry_point = "f" };
	fh_auto_extraction struct fh_extraction e = { 0 };
	fh_extract(fh_str("```python\ndef g(): pass\n```\n"), &o, &e);
	assert_non_null(e.code);
	assert_true(e.fenced);
	assert_false(e.defines);
}

static void test_tags(void **state)
{
	assert_string_equal(fh_extract_language_of_tag(fh_str("C++")), "cpp");
	assert_string_equal(fh_extract_language_of_tag(fh_str("node")), "javascript");
	assert_string_equal(fh_extract_language_of_tag(fh_str("shell")), "bash");
	assert_string_equal(fh_extract_language_of_tag(fh_str("RS")), "rust");
	assert_string_equal(fh_extract_language_of_tag(fh_str("pycon")), "python");
	assert_string_equal(fh_extract_language_of_tag(fh_str("json")), "");
	assert_null(fh_extract_language_of_tag(fh_str("whatever")));
}

static void test_too_long(void **state)
{
	size_t n = FH_EXTRACT_MAX + 1;
	fh_auto_free char *text = fh_xcalloc(n, 1);
	memset(text, 'a', n);
	struct fh_extract_options o = { .language = "python" };
	fh_auto_extraction struct fh_extraction e = { 0 };
	fh_extract((struct fh_str){ text, n }, &o, &e);
	assert_null(e.code);
	assert_non_null(strstr(e.reason, "longer than"));
}

/* Texts that a quadratic step would take minutes over: each takes a small part of a second. */
static void test_is_linear(void **state)
{
	static const char *const pieces[] = { "```python\n", "```\n",      "(/[",        "\"\"\"\n", "def f():\n",
		                                  "x = 1\n",     "a, b, c = ", "import a\n", "</think>", "@a\n",
		                                  ">>> f\n",     "{",          "f",          " ",        "~~~~~~~~" };
	static const char *const languages[] = { "python", "javascript", "bash", "cpp" };
	size_t n = (size_t)1 << 20;
	fh_auto_free char *text = fh_xcalloc(n + 1, 1);
	for (size_t p = 0; p < FH_ARRAY_SIZE(pieces); p++) {
		for (size_t i = 0; i < n; i++)
			text[i] = pieces[p][i % strlen(pieces[p])];
		for (size_t l = 0; l < FH_ARRAY_SIZE(languages); l++) {
			struct fh_extract_options o = { .language = languages[l], .entry_point = "f" };
			fh_auto_extraction struct fh_extraction e = { 0 };
			int64_t start = fh_now_ns();
			fh_extract((struct fh_str){ text, n }, &o, &e);
			if (fh_now_ns() - start > 10 * FH_NS_PER_S)
				fail_msg("a MiB of %s as %s took more than 10 s", pieces[p], languages[l]);
		}
	}
}

static void test_bytes_of_any_kind(void **state)
{
	unsigned seed = 1;
	char text[400];
	static const char alphabet[] = "`~\n\0 \t\"'#/*(){}=>.$pyf\r\x80\xff\\";
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)(rand_r(&seed) % (int)sizeof(text));
		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[rand_r(&seed) % (int)(sizeof(alphabet) - 1)];
		struct fh_extract_options o = { .language = round % 2 ? "python" : "javascript", .entry_point = "f" };
		fh_auto_extraction struct fh_extraction e = { 0 };
		/* Its own allocation, so that a sanitizer sees a read past the end. */
		fh_auto_free char *copy = malloc(n ? n : 1);
		memcpy(copy, text, n);
		fh_extract((struct fh_str){ copy, n }, &o, &e);
		assert_true(!e.code != !e.reason);
	}
}

/* Fills the stack below with bytes that are no pointer, so that a value that was never set shows. */
static __attribute__((noinline)) void dirty_the_stack(void)
{
	volatile char bytes[4096];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 3;
}

static void test_an_import_of_nothing_names_nothing(void **state)
{
	(void)state;
	static const char *const texts[] = { "import", "import ", "import\n", "x = 1\nimport \n\n" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++) {
		fh_auto_outline struct fh_outline o;
		dirty_the_stack();
		fh_outline_make(&o, fh_str(texts[i]), FH_SYNTAX_PYTHON);
		assert_int_equal(o.name_count, i == 3); /* x */
		assert_true(o.items[o.n - 1].is_import);
	}
}

static void a_text_in_single_quotes_may_hold_words(void **state)
{
	static const struct {
		const char *language, *text;
		size_t end;
	} texts[] = { { "javascript", "'a b' + c", 5 },
		          { "php", "'a b' . $c", 5 },
		          { "python", "'a b' + c", 5 },
		          { "c", "'a' + 1", 3 },
		          { "rust", "'a b", 0 },
		          { "javascript", "'a \\' b'", 8 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(texts); i++)
		assert_int_equal(texts[i].end, fh_literal_end(fh_str(texts[i].text), 0, fh_literal_syntax(texts[i].language)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_real_answers),
		cmocka_unit_test(test_says_whether_the_function_is_there),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_is_linear),
		cmocka_unit_test(test_bytes_of_any_kind),
		cmocka_unit_test(test_an_import_of_nothing_names_nothing),
		cmocka_unit_test(a_text_in_single_quotes_may_hold_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
