/* SPDX-License-Identifier: MIT */
/* Data-set formats: what is recognised, what becomes of it, and what is said of a line that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "judge/formats/data_set.h"
#include "judge/problems/output.h"
#include "judge/problems/truth.h"
#include "judge/formats/lines.h"
#include "judge/problems/problem.h"

static char file[] = "/tmp/fumehood-test-formats-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(file);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(file);
}

static void write_file(const char *text)
{
	assert_int_equal(fh_file_write_atomic(file, text, strlen(text), 0600, NULL), 0);
}

static void read_problems(const char *text, struct fh_judge_problems *ret)
{
	struct fh_error err = FH_ERROR_INIT;
	write_file(text);
	if (fh_judge_problems_read(file, ret, &err) < 0)
		fail_msg("%s (%s)", err.message, err.hint);
}

static void assert_refused(const char *text, uint32_t line, const char *says)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_judge_problems p = { 0 };
	write_file(text);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), -FH_E_CONFIG);
	assert_int_equal(err.line, line);
	if (!strstr(err.message, says) && !strstr(err.hint, says))
		fail_msg("\"%s\" (%s) does not say \"%s\"", err.message, err.hint, says);
}

static void assert_buf(const struct fh_buf *b, const char *want)
{
	fh_auto_free char *got = fh_xstrndup(fh_buf_str(b).p, b->n);
	assert_string_equal(got, want);
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void a_file_may_be_one_array(void **state)
{
	static const char *const good[] = {
		"[{\"a\": 1}, {\"a\": [2, \"],}\\\"\"]}]",
		"\xef\xbb\xbf\n [\n{\"a\": 1\n},\n\n{\"a\": [2, \"],}\\\"\"]}\n]\n\n",
		"{\"a\": 1}\n{\"a\": [2, \"],}\\\"\"]}\n",
	};
	static const uint32_t numbers[] = { 1, 6, 2 };
	for (size_t i = 0; i < FH_ARRAY_SIZE(good); i++) {
		struct fh_error err = FH_ERROR_INIT;
		fh_auto_lines struct fh_lines *l = NULL;
		json_t *row;
		write_file(good[i]);
		assert_int_equal(fh_lines_open(file, &l, &err), 0);
		assert_int_equal(fh_lines_next(l, &row, &err), 1);
		assert_int_equal(fh_json_int(row, "a", 0), 1);
		json_decref(row);
		assert_int_equal(fh_lines_next(l, &row, &err), 1);
		assert_int_equal(fh_lines_number(l), numbers[i]);
		fh_auto_free char *text = fh_xstrndup(fh_lines_text(l).p, fh_lines_text(l).n);
		assert_string_equal(text, "{\"a\": [2, \"],}\\\"\"]}");
		json_decref(row);
		assert_int_equal(fh_lines_next(l, &row, &err), 0);
		assert_int_equal(fh_lines_next(l, &row, &err), 0);
	}
	assert_refused("[]", 0, "holds no problems");
	assert_refused("[", 1, "no end");
	assert_refused("[{\"task_id\": 1}", 1, "no format");
	assert_refused("\n[\n{\"task_id\":\n 1 1}]", 4, "not JSON");
#define TASK(id) "{\"task_id\": " id ", \"code\": \"def f(): pass\", \"test_list\": [\"assert f()\"]}"
	assert_refused("[" TASK("1") "\n" TASK("2") "]", 2, "no comma");
	assert_refused("[" TASK("1") ",\n]", 2, "a comma before the end");
	assert_refused("[" TASK("1") "\n", 2, "no end");
	assert_refused("[" TASK("1") "]\n" TASK("2"), 2, "text after the end");
	assert_refused("[" TASK("1") ", 3]", 1, "not a JSON object");
}

static void rows_of_human_eval_in_another_language_are_refused(void **state)
{
	assert_refused("{\"task_id\": 1, \"prompt\": \"\", \"entry_point\": \"f\", \"test\": \"\", \"language\": \"java\"}",
	               1, "this one is in java");
}

/* ------------------------------------------------------------------------------------------------------------- MBPP */

static void mbpp_tests_call_the_function_of_the_reference(void **state)
{
	fh_auto_problems struct fh_judge_problems p = { 0 };
	fh_auto_samples struct fh_judge_samples s = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	read_problems(
	    "{\"task_id\": 7, \"text\": \"t\", \"code\": \"def area(r):\\r\\n  return 3*r\\r\\ndef helper(x): pass\","
	    " \"test_setup_code\": \"\", \"test_list\": [\"assert area(1) == 3\", \"assert area(2) == 6\"]}\n"
	    "{\"task_id\": 8, \"prompt\": \"t\", \"code\": \"def f(x):\\n    return x\\n\","
	    " \"test_imports\": [\"import math\"], \"test_list\": [\"assert math.isclose(f(1), 1)\"]}\n",
	    &p);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.items[0].format, "MBPP");
	assert_string_equal(p.items[0].entry_point, "area");
	assert_buf(&p.items[0].head, "");
	assert_buf(&p.items[0].tail, "assert area(1) == 3\nassert area(2) == 6\n");
	assert_string_equal(p.items[1].entry_point, "f");
	assert_buf(&p.items[1].head, "import math\n");
	assert_buf(&p.items[1].tail, "import math\nassert math.isclose(f(1), 1)\n");
	assert_buf(&p.items[1].reference, "def f(x):\n    return x\n");
	/* A set-up of its own may begin with what the program defines; only its imports are the program's too. */
	fh_auto_problems struct fh_judge_problems q = { 0 };
	read_problems("{\"task_id\": 9, \"code\": \"class N: pass\\ndef f(x): return x\", \"test_setup_code\":"
	              " \"import math\\r\\nroot = N()\", \"test_list\": [\"assert f(root)\"]}\n",
	              &q);
	assert_buf(&q.items[0].head, "import math\r\n");
	assert_buf(&q.items[0].tail, "import math\r\nroot = N()\nassert f(root)\n");
	/* Where no def is called, another name is. */
	fh_auto_problems struct fh_judge_problems named = { 0 };
	read_problems("{\"task_id\": 1, \"code\": \"import g\\ng2 = 1\\nf = lambda x: x\\n\", \"test_list\": [\"assert "
	              "f(1) == g(1)\"]}\n",
	              &named);
	assert_string_equal(named.items[0].entry_point, "f");
	/* MBPP+ as EvalPlus spreads it: its test has what test_list has, and more. */
	fh_auto_problems struct fh_judge_problems plus = { 0 };
	read_problems(
	    "{\"task_id\": 2, \"code\": \"def f(x): return x\", \"test_imports\": [], \"test_list\": [\"assert f(1)\"],"
	    " \"test\": \"for x in 1, 2:\\n    assert f(x) == x\"}\n",
	    &plus);
	assert_buf(&plus.items[0].tail, "for x in 1, 2:\n    assert f(x) == x\n");
	/* A number stays one in results; a sample may write it as text. */
	assert_true(p.items[1].has_number);
	write_file("{\"task_id\": \"8\", \"completion\": \"x\"}\n{\"task_id\": 7, \"solution\": \"y\"}\n");
	assert_int_equal(fh_judge_samples_read(file, &p, &s, &err), 0);
	assert_int_equal(s.items[0].problem, 1);
	assert_false(s.items[0].is_whole);
	assert_int_equal(s.items[1].problem, 0);
	assert_true(s.items[1].is_whole);
	write_file("{\"task_id\": 7, \"solution\": \"y\", \"completion\": \"y\"}\n");
	assert_int_equal(fh_judge_samples_read(file, &p, &s, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "both"));
}

static void a_wrong_mbpp_task_is_refused(void **state)
{
	assert_refused("{\"task_id\": 1, \"code\": \"def f(): pass\", \"test_list\": []}", 1, "holds no test");
	assert_refused("{\"task_id\": 1, \"code\": \"def f(): pass\", \"test_list\": [1]}", 1, "item 1 of test_list");
	assert_refused("{\"task_id\": 1, \"code\": \"def f(): pass\", \"test_list\": [\"assert ff() == f2\"]}", 1,
	               "calls a function that code defines");
	assert_refused("{\"task_id\": 1, \"code\": \"def f(): pass\", \"test_imports\": 1, \"test_list\": [\"f()\"]}", 1,
	               "test_imports is not a list");
}

/* --------------------------------------------------------------------------------------------------------- EvalPlus */

/* What the inputs of an MBPP+ task become. */
static void assert_mbpp_inputs(int task, const char *inputs, const char *expected)
{
	fh_auto_problems struct fh_judge_problems p = { 0 };
	fh_auto_free char *row = fh_xasprintf(
	    "{\"task_id\": \"Mbpp/%d\", \"prompt\": \"\\\"\\\"\\\"f\\\"\\\"\\\"\", \"entry_point\": \"f\", \"atol\": 0,"
	    " \"canonical_solution\": \"def f(*a): pass\", \"base_input\": %s, \"plus_input\": {}}\n",
	    task, inputs);
	read_problems(row, &p);
	assert_buf(&p.items[0].truth->inputs, expected);
	assert_int_equal(p.items[0].head.n, 0);
}

static void mbpp_plus_inputs_get_the_types_back_that_json_has_not(void **state)
{
	assert_mbpp_inputs(3, "[[[1, [2]], \"a\"], [{\"k\": [1]}]]", "[\n[[1, [2]], \"a\", ],\n[{\"k\": [1]}, ],\n]");
	assert_mbpp_inputs(2, "[[[1, 2], []]]", "[\n[(1, 2, ), (), ],\n]");
	assert_mbpp_inputs(63, "[[[[1, [2]], [3]]]]", "[\n[[(1, [2], ), (3, ), ], ],\n]");
	assert_mbpp_inputs(75, "[[[[6, 24]], [6]]]", "[\n[[(6, 24, ), ], [6], ],\n]");
	assert_mbpp_inputs(106, "[[[5], [9, 10]]]", "[\n[[5], (9, 10, ), ],\n]");
	assert_mbpp_inputs(307, "[[[\"a\", [1]], 1, [50]]]", "[\n[(\"a\", [1], ), 1, [50], ],\n]");
	assert_mbpp_inputs(278, "[[[1, [2, [3]], \"(\"]]]", "[\n[(1, (2, [3], ), \"(\", ), ],\n]");
	assert_mbpp_inputs(722, "[[{\"a, :\": [6.2, 70], \"b\": []}, 6.0, [7]]]",
	                   "[\n[{\"a, :\": (6.2, 70, ), \"b\": (), }, 6.0, [7], ],\n]");
	assert_mbpp_inputs(580, "[[[4, [5, []]]]]", "[\n[(4, (5, (), ), ), ],\n]");
	assert_mbpp_inputs(115, "[[[[1, 2], [], {}]]]", "[\n[[{1, 2, }, {}, {}, ], ],\n]");
	assert_mbpp_inputs(124, "[[\"0.5\", \"(1+2j)\"]]", "[\n[float(\"0.5\"), complex(\"(1+2j)\"), ],\n]");
	assert_mbpp_inputs(252, "[[\"1j\"], [3]]", "[\n[complex(\"1j\"), ],\n[3, ],\n]");
	/* Python writes these, though JSON has none. */
	assert_mbpp_inputs(4, "[[Infinity, -Infinity, [NaN, \"NaN\"]]]",
	                   "[\n[float('inf'), -float('inf'), [float('nan'), \"NaN\"], ],\n]");
	assert_refused("{\"task_id\": 1, \"code\": \"def f(x): pass\", \"cases\": [[1, NaN]]}", 1, "NaN or Infinity");
	assert_refused(
	    "{\"task_id\": \"Mbpp/3\", \"prompt\": \"\", \"entry_point\": \"f\", \"canonical_solution\": \"def f(): pass\","
	    " \"base_input\": [[]], \"atol\": Infinity}",
	    1, "atol");
}

static void evalplus_inputs_keep_their_types(void **state)
{
	fh_auto_problems struct fh_judge_problems p = { 0 };
	read_problems(
	    "{\"task_id\": \"HumanEval/9\", \"prompt\": \"def f(x, y):\\n\", \"entry_point\": \"f\", \"atol\": 0.5,"
	    " \"canonical_solution\": \" return x\", \"base_input\": [[1, 1.0]], \"plus_input\": [[1e22, true], [ ]]}\n",
	    &p);
	assert_string_equal(p.items[0].format, "EvalPlus");
	assert_buf(&p.items[0].truth->inputs, "[\n[1, 1.0],\n[1e22, True],\n[ ],\n]");
	assert_int_equal(p.items[0].truth->count, 3);
	assert_true(p.items[0].truth->atol == 0.5);
	assert_int_equal(p.items[0].tail.n, 0);
#define PLUS(id, rest)                                                                                                 \
	"{\"task_id\": \"" id                                                                                              \
	"\", \"prompt\": \"def f(x): \", \"entry_point\": \"f\", \"canonical_solution\": \"\", " rest "}"
	assert_refused(PLUS("Mbpp/2", "\"base_input\": [[1]]"), 1, "canonical_solution does not define");
	assert_refused(PLUS("H/2", "\"base_input\": [1]"), 1, "item 1 of base_input");
	assert_refused(PLUS("H/2", "\"base_input\": []"), 1, "holds an input");
	assert_refused(PLUS("H/2", "\"base_input\": [[1]], \"atol\": -1"), 1, "atol");
}

/* ---------------------------------------------------------------------------------------------------------- generic */

static void generic_rows_say_what_is_judged_and_how(void **state)
{
	fh_auto_problems struct fh_judge_problems p = { 0 };
	read_problems(
	    "{\"task_id\": \"a\", \"language\": \"sh\", \"code\": \"cat\", \"stdin\": \"x\", \"stdout\": \"y\"}\n"
	    "{\"task_id\": \"b\", \"language\": \"c\", \"tolerance\": 0.5, \"suffix\": \"S\", \"checker\": {\"language\":"
	    " \"bash\", \"code\": \"true\"}, \"cases\": [{\"stdout\": \"1\"}, {\"stdout\": \"\", \"exit_code\": 2}]}\n"
	    "{\"task_id\": \"c\", \"code\": \"def g(): pass\\ndef f(x):\\n  return x\", \"tests\": [\"assert f(1)\"]}\n"
	    "{\"task_id\": \"d\", \"prompt\": \"def f(x):\", \"code\": \" return x\", \"tests\": \"f(1)\"}\n"
	    "{\"task_id\": \"e\", \"prompt\": \"Write f.\", \"function\": \"f\", \"cases\": [[true, {\"k\": 1.0}, null],"
	    " {\"args\": [ ], \"kwargs\": {\"y\" : 36893488147419103232}, \"expected\": \"\\ud83d\\ude00\\/\"}]}\n",
	    &p);
	const struct fh_judge_output *o = p.items[0].output;
	assert_string_equal(p.items[0].format, "generic");
	assert_int_equal(p.items[0].language, FH_JUDGE_BASH);
	assert_int_equal(o->rule, FH_COMPARE_TRIMMED);
	assert_buf(&o->cases[0].input, "x");
	assert_buf(&o->cases[0].expected, "y");
	o = p.items[1].output;
	assert_int_equal(o->rule, FH_COMPARE_NUMBERS);
	assert_string_equal(o->checker_language, "bash");
	assert_int_equal(o->count, 2);
	assert_int_equal(o->cases[1].exit_code, 2);
	assert_buf(&p.items[1].tail, "S");
	assert_null(p.items[2].output);
	assert_string_equal(p.items[2].entry_point, "f");
	assert_buf(&p.items[2].tail, "assert f(1)\n");
	assert_buf(&p.items[2].head, "");
	assert_buf(&p.items[3].head, "def f(x):");
	assert_buf(&p.items[4].head, "");
	const char *calls = strstr(fh_buf_cstr(&p.items[4].tail), "\ncheck_cases(");
	assert_non_null(calls);
	assert_string_equal(calls, "\ncheck_cases(f, [\n"
	                           "\t([True, {\"k\": 1.0}], {}, None),\n"
	                           "\t([ ], {\"y\" : 36893488147419103232}, \"\\U0001f600/\"),\n"
	                           "], 0);\n");
}

static void tests_of_java_rust_and_go_call_what_the_prompt_declares(void **state)
{
	fh_auto_problems struct fh_judge_problems p = { 0 };
	read_problems(
	    "{\"task_id\": \"j\", \"language\": \"java\", \"tests\": \"class Main { }\", \"code\": \"return x; } }\","
	    " \"prompt\": \"class Solution {\\n  static int half(int x) {\"}\n"
	    "{\"task_id\": \"k\", \"language\": \"java\", \"tests\": [\"class Main { }\"],"
	    " \"code\": \"class Solution { int half(int x) { return x; } }\", \"prefix\": \"import java.util.*;\\n\","
	    " \"prompt\": \"class Solution {\\n  int half(int x) {\\n\"}\n"
	    "{\"task_id\": \"r\", \"language\": \"rust\", \"tests\": \"#[test] fn t() {}\", \"code\": \"x / 2 }\","
	    " \"prompt\": \"fn other() {}\\nfn half(x: i32) -> i32 {\\n\"}\n"
	    "{\"task_id\": \"s\", \"language\": \"rust\", \"tests\": \"#[test] fn t() {}\","
	    " \"code\": \"fn half(x: i32) -> i32 { x / 2 }\", \"prompt\": \"fn half(x: i32) -> i32 {\\n\"}\n"
	    "{\"task_id\": \"g\", \"language\": \"go\", \"tests\": \"func TestHalf(t *testing.T) {}\", \"code\": \"return "
	    "x / 2 }\","
	    " \"prompt\": \"func other() {}\\nfunc half(x int) int {\"}\n"
	    "{\"task_id\": \"h\", \"language\": \"go\", \"tests\": \"func TestHalf(t *testing.T) {}\","
	    " \"code\": \"func half(x int) int { return x / 2 }\", \"prompt\": \"func half(x int) int {\"}\n",
	    &p);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(p.items[i].entry_point, "half");
		assert_null(p.items[i].output);
		assert_int_equal(p.items[i].reference_is_whole, i % 2);
	}
	assert_buf(&p.items[0].head, "class Solution {\n  static int half(int x) {\n");
	assert_buf(&p.items[1].head, "import java.util.*;\nclass Solution {\n  int half(int x) {\n");
	assert_buf(&p.items[2].tail, "#[test] fn t() {}\n");
	assert_refused("{\"task_id\": \"j\", \"language\": \"java\", \"tests\": \"x\", \"prompt\": \"Write a class.\"}", 1,
	               "the prompt declares no function of java");
	assert_refused("{\"task_id\": \"j\", \"language\": \"java\", \"tests\": \"import org.junit.Test;\", \"prompt\": "
	               "\"class Solution {\\n  static int half(int x) {\\n\"}",
	               1, "JUnit");
	assert_refused("{\"task_id\": \"r\", \"language\": \"rust\", \"tests\": \"x\"}", 1, "declares no function of rust");
	assert_refused("{\"task_id\": \"g\", \"language\": \"go\", \"tests\": \"x\"}", 1, "declares no function of go");
}

static void a_wrong_generic_row_is_refused(void **state)
{
#define ROW(rest) "{\"task_id\": \"a\", \"code\": \"def f(): pass\", " rest "}"
	assert_refused(ROW("\"tests\": 3"), 1, "neither a string nor a list");
	assert_refused(ROW("\"tests\": []"), 1, "tests is empty");
	assert_refused(ROW("\"cases\": []"), 1, "cases is not a list");
	assert_refused(ROW("\"cases\": [[]]"), 1, "case 1 is empty");
	assert_refused(ROW("\"cases\": [[1], {\"args\": []}]"), 1, "case 2 says nothing");
	assert_refused(ROW("\"cases\": [{\"args\": 1, \"expected\": 1}]"), 1, "args is a list");
	assert_refused(ROW("\"cases\": [{\"stdout\": \"x\"}, [1]]"), 1, "case 2 has no stdout");
	assert_refused(ROW("\"cases\": [{\"stdout\": \"x\"}], \"tests\": \"x\""), 1, "both");
	assert_refused(ROW("\"stdout\": \"x\", \"compare\": \"fuzzy\""), 1, "no rule fuzzy");
	assert_refused(ROW("\"stdout\": \"x\", \"checker\": {}"), 1, "no program text");
	assert_refused(ROW("\"stdout\": \"x\", \"tolerance\": -1"), 1, "tolerance");
	assert_refused(ROW("\"stdout\": \"x\", \"language\": \"cobol\""), 1, "cobol");
	assert_refused(ROW("\"cases\": [[1]], \"language\": \"c\""), 1, "functions of c cannot be called");
	assert_refused(ROW("\"cases\": [[1]], \"entry_point\": \"f(1)\""), 1, "not a name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_may_be_one_array),
		cmocka_unit_test(rows_of_human_eval_in_another_language_are_refused),
		cmocka_unit_test(mbpp_tests_call_the_function_of_the_reference),
		cmocka_unit_test(a_wrong_mbpp_task_is_refused),
		cmocka_unit_test(evalplus_inputs_keep_their_types),
		cmocka_unit_test(mbpp_plus_inputs_get_the_types_back_that_json_has_not),
		cmocka_unit_test(generic_rows_say_what_is_judged_and_how),
		cmocka_unit_test(tests_of_java_rust_and_go_call_what_the_prompt_declares),
		cmocka_unit_test(a_wrong_generic_row_is_refused),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
