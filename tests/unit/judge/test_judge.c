/* SPDX-License-Identifier: MIT */
/* The judge's parts that need no sandbox: formats, declarations, verdicts, the estimator, keys. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/text/sha256.h"
#include "code/declaration.h"
#include "judge/formats/data_set.h"
#include "judge/common/verdict.h"
#include "judge/rows/estimate.h"
#include "judge/problems/problem.h"
#include "sandbox/planning/share.h"

/* ---------------------------------------------------------------------------------------------------------- helpers */

static char scratch[] = "/tmp/fumehood-test-judge-XXXXXX";
static char file[128];

static const char *scratch_file(const char *name, const char *text)
{
	struct fh_error err = FH_ERROR_INIT;
	snprintf(file, sizeof(file), "%s/%s", scratch, name);
	if (text)
		assert_int_equal(fh_file_write_atomic(file, text, strlen(text), 0600, &err), 0);
	else
		unlink(file);
	return file;
}

static int make_scratch(void **state)
{
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	static const char *const names[] = { "p", "s", "p.gz" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		scratch_file(names[i], NULL);
	return rmdir(scratch);
}

static void assert_text(struct fh_str s, const char *want)
{
	fh_auto_free char *got = fh_xstrndup(s.p, s.n);
	assert_string_equal(got, want);
}

/* ----------------------------------------------------------------------------------------------------------- sha256 */

static void hex_of(const char *text, size_t repeat, char hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	for (size_t i = 0; i < repeat; i++)
		fh_sha256_add(&h, text, strlen(text));
	fh_sha256_hex(&h, hex);
}

/* The examples of FIPS 180-4, and lengths around the padding's edges. */
static void sha256_gives_the_standards_digests(void **state)
{
	char hex[FH_SHA256_HEX], again[FH_SHA256_HEX];
	hex_of("", 1, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hex_of("abc", 1, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, hex);
	assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	hex_of("a", 1000000, hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	hex_of("aaaaaaaaaaaaaaaa", 62500, again);
	assert_string_equal(hex, again);
	hex_of("a", 64, hex);
	assert_string_equal(hex, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

/* On a processor without SHA instructions both sides are the same code. */
static void sha256_is_the_same_with_and_without_the_processors_instructions(void **state)
{
	struct fh_sha256 h = FH_SHA256_INIT, plain = FH_SHA256_INIT;
	uint8_t block[64];
	uint32_t x = 1;
	for (int n = 0; n < 200; n++) {
		for (size_t i = 0; i < sizeof(block); i++)
			block[i] = (x = x * 1664525 + 1013904223) >> 24;
		fh_sha256_add(&h, block, sizeof(block));
		fh_sha256_block_plain(plain.state, block);
		assert_memory_equal(h.state, plain.state, sizeof(h.state));
	}
}

static void a_field_is_told_from_its_neighbour(void **state)
{
	char one[FH_SHA256_HEX], other[FH_SHA256_HEX];
	struct fh_sha256 a = FH_SHA256_INIT, b = FH_SHA256_INIT;
	fh_sha256_add_field(&a, fh_str("ab"));
	fh_sha256_add_field(&a, fh_str("c"));
	fh_sha256_add_field(&b, fh_str("a"));
	fh_sha256_add_field(&b, fh_str("bc"));
	fh_sha256_hex(&a, one);
	fh_sha256_hex(&b, other);
	assert_string_not_equal(one, other);
}

/* ----------------------------------------------------------------------------------------------------- declarations */

static void a_declaration_that_is_right_stays_whole(void **state)
{
	static const char *const whole[] = {
		"int f(int x){\n",
		"#include <map>\nint g(){ return 1; }\nint f(int x){\n",
		"int f(int x);\n",
		"const char *s = \"{{{\"; char c = '{'; // {\n/* {{ */ int f(){",
		"auto r = R\"x({{ )\" {)x\"; int f(){",
		"int big = 1'000'000; int f(){",
		"",
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(whole); i++)
		assert_text(fh_cpp_declaration(fh_str(whole[i])), whole[i]);
}

static void a_declaration_that_holds_a_part_of_its_body_is_cut(void **state)
{
	assert_text(fh_cpp_declaration(fh_str("int g(){ if (1) { } }\nint f(string s){ \n  int l;\n  for (;;)\n  {\n")),
	            "int g(){ if (1) { } }\nint f(string s){");
	assert_text(fh_cpp_declaration(fh_str("int f(){ char c = '{'; while (1) { // }\n")), "int f(){");
}

static void the_name_comes_from_the_declaration(void **state)
{
	const char *source = "import x\n\ndef helper(a):\n    def inner(): pass\n\nasync def  wanted (b):\n";
	assert_text(fh_last_python_def(fh_str(source)), "wanted");
	assert_text(fh_last_python_def(fh_str("x = 1\n")), "");
	assert_true(fh_declares_python(fh_str(source), fh_str("helper")));
	assert_true(fh_declares_python(fh_str("class C:\n"), fh_str("C")));
	assert_true(fh_declares_python(fh_str("f = lambda: 1\n"), fh_str("f")));
	assert_false(fh_declares_python(fh_str(source), fh_str("inner")));
	assert_false(fh_declares_python(fh_str(source), fh_str("help")));
}

/* ---------------------------------------------------------------------------------------------------------- formats */

static const char human_eval[] =
    "{\"task_id\": \"T/0\", \"prompt\": \"def f(x):\\n\", \"entry_point\": \"f\", \"test\": \"def check(c): "
    "pass\\n\"}\n"
    "\n"
    "{\"task_id\": \"T/1\", \"prompt\": \"def g(x):\\n\", \"entry_point\": \"wrong\", \"test\": \"t\"}";

static void human_eval_is_read(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_problems struct fh_judge_problems p = { 0 };
	assert_int_equal(fh_judge_problems_read(scratch_file("p", human_eval), &p, &err), 0);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.items[0].format, "human-eval");
	assert_int_equal(p.items[0].language, FH_JUDGE_PYTHON);
	assert_text(fh_buf_str(&p.items[0].head), "def f(x):\n");
	assert_text(fh_buf_str(&p.items[0].tail), "def check(c): pass\n\ncheck(f)");
	assert_text(fh_buf_str(&p.items[1].tail), "t\ncheck(g)");
	assert_int_equal(p.items[1].line, 3);
	assert_ptr_equal(fh_judge_problem_find(&p, "T/1"), &p.items[1]);
	assert_null(fh_judge_problem_find(&p, "T/2"));
}

static void gzip_is_read_by_its_content(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_problems struct fh_judge_problems p = { 0 };
	gzFile gz = gzopen(scratch_file("p.gz", NULL), "wb");
	assert_int_equal(gzwrite(gz, human_eval, (unsigned)strlen(human_eval)), strlen(human_eval));
	gzclose(gz);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), 0);
	assert_int_equal(p.count, 2);

	/* member after member, and zeros as padding */
	fh_judge_problems_release(&p);
	FILE *more = fopen(file, "ab");
	assert_int_equal(fwrite("\0\0\0", 1, 3, more), 3);
	fclose(more);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), 0);
	assert_int_equal(p.count, 2);
	fh_judge_problems_release(&p);
	gz = gzopen(scratch_file("p.gz", NULL), "wb");
	assert_int_equal(gzwrite(gz, human_eval, 50), 50);
	gzclose(gz);
	gz = gzopen(file, "ab");
	assert_int_equal(gzwrite(gz, human_eval + 50, (unsigned)strlen(human_eval) - 50), strlen(human_eval) - 50);
	gzclose(gz);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), 0);
	assert_int_equal(p.count, 2);

	/* rows that are not compressed, behind those that are, are no end of the data */
	fh_judge_problems_release(&p);
	more = fopen(file, "ab");
	assert_int_equal(fwrite("{}\n", 1, 3, more), 3);
	fclose(more);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "stands behind it"));

	fh_judge_problems_release(&p);
	assert_int_equal(truncate(file, 60), 0);
	assert_int_equal(fh_judge_problems_read(file, &p, &err), -FH_E_CONFIG);
	assert_non_null(strstr(err.message, "cut off"));
}

static void the_pack_is_read_in_its_three_languages(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_problems struct fh_judge_problems p = { 0 };
	const char *text =
	    "{\"task_id\":\"Python/0\",\"declaration\":\"def f():\\n\",\"test\":\"assert f()\"}\n"
	    "{\"task_id\":\"JavaScript/0\",\"declaration\":\"\\nconst f = () => {\\n\",\"test\":\"t()\",\"import\":\"\"}\n"
	    "{\"task_id\":\"CPP/0\",\"declaration\":\"int f(){ for(;;) {\",\"test\":\"int main(){}\","
	    "\"import\":\"#include <a>\",\"test_setup\":\"int s;\",\"entry_point\":\"wrong\"}\n";
	assert_int_equal(fh_judge_problems_read(scratch_file("p", text), &p, &err), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.items[0].language, FH_JUDGE_PYTHON);
	assert_int_equal(p.items[1].language, FH_JUDGE_JAVASCRIPT);
	assert_int_equal(p.items[2].language, FH_JUDGE_CPP);
	assert_text(fh_buf_str(&p.items[1].head), "\nconst f = () => {\n");
	assert_text(fh_buf_str(&p.items[2].head), "#include <a>\nint s;\nint f(){\n");
	assert_text(fh_buf_str(&p.items[2].tail), "int main(){}");
}

static void a_bad_line_is_named(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *says;
	} bad[] = {
		{ "\n{\"task_id\": \"a\"\n", 2, "not JSON" },
		{ "[1]\n", 1, "not a JSON object" },
		{ "{\"task_id\": 3.5}\n", 1, "task_id is not a string" },
		{ "{\"prompt\": \"\"}\n", 1, "no task_id" },
		{ "{\"task_id\": \"a\", \"prompt\": \"\"}\n", 1, "no format" },
		{ "{\"task_id\": \"Ada/0\", \"declaration\": \"\", \"test\": \"\"}\n", 1, "language" },
		{ "{\"task_id\": \"a\", \"prompt\": \"\", \"test\": \"\", \"entry_point\": \"f);exit(\"}\n", 1, "not a name" },
		{ "{\"task_id\": \"a\", \"prompt\": \"\", \"test\": \"\", \"entry_point\": \"f\"}\n"
		  "{\"task_id\": \"a\", \"prompt\": \"\", \"test\": \"\", \"entry_point\": \"f\"}\n",
		  2, "already in line 1" },
		{ "", 0, "holds no problems" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct fh_judge_problems p = { 0 };
		assert_int_equal(fh_judge_problems_read(scratch_file("p", bad[i].text), &p, &err), -FH_E_CONFIG);
		assert_string_equal(err.file, file);
		assert_int_equal(err.line, bad[i].line);
		if (!strstr(err.message, bad[i].says))
			fail_msg("message %zu: %s", i, err.message);
	}
}

static void samples_name_their_problems(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{\"task_id\": \"T/0\", \"completion\": \"x\"}\n{\"task_id\": \"T/7\", \"completion\": \"x\"}", "T/7" },
		{ "\n{\"task_id\": \"T/0\"}", "no completion" },
		{ "\n{\"task_id\": \"T/0\", \"completion\": null}", "completion is not a string" },
	};
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_problems struct fh_judge_problems p = { 0 };
	fh_auto_samples struct fh_judge_samples s = { 0 };
	assert_int_equal(fh_judge_problems_read(scratch_file("p", human_eval), &p, &err), 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(bad); i++) {
		assert_int_equal(fh_judge_samples_read(scratch_file("s", bad[i].text), &p, &s, &err), -FH_E_CONFIG);
		assert_int_equal(err.line, 2);
		assert_non_null(strstr(err.message, bad[i].says));
	}
	const char *good =
	    "{\"task_id\": \"T/1\", \"completion\": \"a\\u0000b\"}\n\n{\"task_id\": \"T/0\", \"completion\": \"\"}\n";
	assert_int_equal(fh_judge_samples_read(scratch_file("s", good), &p, &s, &err), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.items[0].problem, 1);
	assert_int_equal(s.items[0].size, 3);
	assert_memory_equal(s.items[0].completion, "a\0b", 3);
	assert_int_equal(s.items[1].size, 0);
}

/* --------------------------------------------------------------------------------------------------------- verdicts */

#define SECRET "0123456789abcdef0123456789abcdef"

static enum fh_verdict decide(enum fh_status status, int exit_code, int signal, const char *out, const char *err,
                              char **reason)
{
	struct fh_result r = { .status = status, .exit_code = exit_code, .signal = signal };
	r.stream_data[FH_STDOUT] = (uint8_t *)fh_xstrdup(out);
	r.stream_size[FH_STDOUT] = strlen(out);
	r.stream_data[FH_STDERR] = (uint8_t *)fh_xstrdup(err);
	r.stream_size[FH_STDERR] = strlen(err);
	r.limits.value[FH_LIMIT_CPU_TIME] = 5000;
	enum fh_verdict v = fh_verdict_decide(&r, SECRET, reason);
	free(r.stream_data[FH_STDOUT]);
	free(r.stream_data[FH_STDERR]);
	return v;
}

static void only_the_secret_and_a_clean_end_pass(void **state)
{
	static const struct {
		enum fh_status status;
		int exit_code, signal;
		const char *out, *err;
		enum fh_verdict verdict;
		const char *says;
	} cases[] = {
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " passed 0\n", "", FH_VERDICT_PASSED, "" },
		{ FH_STATUS_OK, 0, 0, "text\n" SECRET " passed 0\nmore", "", FH_VERDICT_PASSED, "" },
		{ FH_STATUS_OK, 0, 0, "passed\n", "", FH_VERDICT_EARLY_EXIT, "exit status 0" },
		{ FH_STATUS_OK, 0, 0, "", "", FH_VERDICT_EARLY_EXIT, "exit status 0" },
		{ FH_STATUS_RUNTIME_ERROR, 3, 0, "", "boo\n", FH_VERDICT_EARLY_EXIT, "exit status 3: boo" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " exited 4\nhere", "", FH_VERDICT_EARLY_EXIT, "here" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " failed 9\nNameError", "", FH_VERDICT_FAILED, "NameError" },
		{ FH_STATUS_RUNTIME_ERROR, -1, 6, "\n" SECRET " failed 3\nx>1", "", FH_VERDICT_FAILED, "x>1" },
		{ FH_STATUS_RUNTIME_ERROR, -1, 6, "", "terminate called after x\n  what():  no\n", FH_VERDICT_FAILED, "no" },
		{ FH_STATUS_RUNTIME_ERROR, -1, 11, "", "", FH_VERDICT_RUNTIME_ERROR, "SIGSEGV" },
		{ FH_STATUS_RUNTIME_ERROR, -1, 11, "\n" SECRET " passed 0\n", "", FH_VERDICT_RUNTIME_ERROR, "after the test" },
		{ FH_STATUS_RUNTIME_ERROR, 1, 0, "\n" SECRET " passed 0\n", "", FH_VERDICT_RUNTIME_ERROR, "exit status 1" },
		{ FH_STATUS_CPU_TIME_LIMIT, -1, 9, "\n" SECRET " passed 0\n", "", FH_VERDICT_CPU_TIME_LIMIT, "5000 ms" },
		{ FH_STATUS_COMPILE_ERROR, 1, 0, "", "a.cpp: In f:\na.cpp:1: error: no\nx", FH_VERDICT_COMPILE_ERROR,
		  "error: no" },
		{ FH_STATUS_PROCESS_LIMIT, 0, 0, "\n" SECRET " passed 0\n", "", FH_VERDICT_PASSED, "" },
		{ FH_STATUS_PROCESS_LIMIT, 0, 0, "\n" SECRET " failed 1\nx", "", FH_VERDICT_PROCESS_LIMIT, "x" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " passed 0\n\n" SECRET " passed 0\n", "", FH_VERDICT_TAMPERED, "message" },
		{ FH_STATUS_OK, 0, 0, SECRET " passed 0\n", "", FH_VERDICT_TAMPERED, "message" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " passed 99\n", "", FH_VERDICT_TAMPERED, "message" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET " passed", "", FH_VERDICT_TAMPERED, "message" },
		{ FH_STATUS_OK, 0, 0, "\n" SECRET, "", FH_VERDICT_TAMPERED, "message" },
		{ FH_STATUS_ENGINE_ERROR, -1, 0, "\n" SECRET " passed 0\n", "", FH_VERDICT_ENGINE_ERROR, "" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		fh_auto_free char *reason = NULL;
		enum fh_verdict v =
		    decide(cases[i].status, cases[i].exit_code, cases[i].signal, cases[i].out, cases[i].err, &reason);
		if (v != cases[i].verdict || !strstr(reason, cases[i].says))
			fail_msg("case %zu: %s, %s", i, fh_verdict_name(v), reason);
	}
}

static void a_reason_is_bounded_utf8(void **state)
{
	fh_auto_free char *text = fh_xcalloc(1, 8192), *reason = NULL;
	int n = snprintf(text, 8192, "\n" SECRET " failed 5000\n");
	for (int i = 0; i < 2500; i++)
		memcpy(text + n + 2 * i, i == 1 ? "\xff." : "\xc3\xa4", 2);
	assert_int_equal(decide(FH_STATUS_OK, 0, 0, text, "", &reason), FH_VERDICT_FAILED);
	assert_in_range(strlen(reason), FH_REASON_MAX - 3, FH_REASON_MAX);
	assert_memory_equal(reason, "\xc3\xa4\xef\xbf\xbd.\xc3\xa4", 8);
	assert_int_equal((unsigned char)reason[strlen(reason) - 2], 0xc3);
}

static void verdicts_have_names(void **state)
{
	for (enum fh_verdict v = 0; v < FH_VERDICT_COUNT_; v++)
		assert_int_equal(fh_verdict_of_name(fh_verdict_name(v)), v);
	assert_int_equal(fh_verdict_of_name("ok"), FH_VERDICT_COUNT_);
}

/* -------------------------------------------------------------------------------------------------------- estimator */

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void pass_at_k_is_the_chance_that_one_of_k_passes(void **state)
{
	assert_near(fh_pass_at_k(10, 3, 1), 0.3);
	assert_near(fh_pass_at_k(5, 2, 2), 1 - 3.0 / 10); /* C(3,2) = 3 of C(5,2) = 10 draws miss */
	assert_near(fh_pass_at_k(5, 2, 3), 1 - 1.0 / 10);
	assert_near(fh_pass_at_k(5, 2, 4), 1);
	assert_near(fh_pass_at_k(5, 0, 5), 0);
	assert_near(fh_pass_at_k(5, 5, 1), 1);
	assert_near(fh_pass_at_k(100, 1, 100), 1);
	assert_near(fh_pass_at_k(200, 1, 100), 0.5);
}

static void the_interval_is_over_tasks(void **state)
{
	const struct fh_task_count tasks[] = { { 4, 4 }, { 4, 0 }, { 4, 2 }, { 1, 1 }, { 0, 0 } };
	struct fh_estimate e;
	fh_estimate_pass_at_k(tasks, 5, 2, &e);
	/* 1, 0 and 1 - C(2,2)/C(4,2) = 5/6: mean 11/18; deviations 7/18, -11/18, 4/18; se = sqrt(186/324 / 6) */
	assert_int_equal(e.tasks, 3);
	assert_near(e.value, 11.0 / 18);
	assert_true(e.has_interval);
	assert_near(e.standard_error, sqrt(186.0 / 324 / 6));
	assert_near(e.low, fmax(0, e.value - 1.96 * e.standard_error));
	assert_near(e.high, 1);
	fh_estimate_pass_at_k(tasks, 5, 1, &e);
	assert_int_equal(e.tasks, 4);
	assert_near(e.value, 2.5 / 4);
	fh_estimate_pass_at_k(tasks, 5, 5, &e);
	assert_int_equal(e.tasks, 0);
	assert_false(e.has_interval);
	fh_estimate_pass_at_k(tasks, 1, 1, &e);
	assert_int_equal(e.tasks, 1);
	assert_false(e.has_interval);
}

static void all_of_k_pass_by_the_hypergeometric_chance(void **state)
{
	static const struct fh_task_count tasks[] = { { 4, 2 }, { 4, 4 }, { 1, 1 } };
	struct fh_estimate e;
	assert_true(fabs(fh_pass_hat_k(4, 2, 2) - 1.0 / 6) < 1e-12);
	assert_true(fh_pass_hat_k(4, 2, 3) == 0 && fh_pass_hat_k(4, 4, 4) == 1);
	assert_true(fabs(fh_pass_hat_k(100, 65, 5) - 8259888.0 / 75287520.0) < 1e-12);
	fh_estimate_pass_hat_k(tasks, 3, 2, &e);
	assert_int_equal(e.tasks, 2);
	assert_true(fabs(e.value - 7.0 / 12) < 1e-12);
}

/* -------------------------------------------------------------------------------------------------- shares of CPU */

static void wall_time_is_scaled_for_who_computes_on_a_busy_machine(void **state)
{
	struct fh_limits limits = { { 0 } };
	limits.value[FH_LIMIT_CPU_TIME] = 5000;
	limits.value[FH_LIMIT_WALL_TIME] = 20000;
	/* an endless loop that got a tenth of a processor, as this thread does: 7.5 s of CPU time fit into 4 times as much
	 */
	assert_int_equal(fh_share_wall_factor(&limits, 2000000, 0.1), 4);
	assert_int_equal(fh_share_wall_factor(&limits, 100000, 0.005), FH_SHARE_FACTOR_MAX);
	/* one that slept most of the time; one that had a whole processor */
	assert_int_equal(fh_share_wall_factor(&limits, 500000, 0.1), 1);
	assert_int_equal(fh_share_wall_factor(&limits, 2000000, 1), 1);
	assert_int_equal(fh_share_wall_factor(&limits, 0, 0.1), 1);
	/* where the wall time is what there is for a program alone, it stays that */
	limits.value[FH_LIMIT_CPU_TIME] = FH_UNLIMITED;
	assert_int_equal(fh_share_wall_factor(&limits, 10000000, 0.5), 3);
	double share = fh_share_measure();
	assert_true(share > 0 && share <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_k_pass_by_the_hypergeometric_chance),
		cmocka_unit_test(sha256_gives_the_standards_digests),
		cmocka_unit_test(sha256_is_the_same_with_and_without_the_processors_instructions),
		cmocka_unit_test(a_field_is_told_from_its_neighbour),
		cmocka_unit_test(a_declaration_that_is_right_stays_whole),
		cmocka_unit_test(a_declaration_that_holds_a_part_of_its_body_is_cut),
		cmocka_unit_test(the_name_comes_from_the_declaration),
		cmocka_unit_test(human_eval_is_read),
		cmocka_unit_test(gzip_is_read_by_its_content),
		cmocka_unit_test(the_pack_is_read_in_its_three_languages),
		cmocka_unit_test(a_bad_line_is_named),
		cmocka_unit_test(samples_name_their_problems),
		cmocka_unit_test(only_the_secret_and_a_clean_end_pass),
		cmocka_unit_test(a_reason_is_bounded_utf8),
		cmocka_unit_test(verdicts_have_names),
		cmocka_unit_test(pass_at_k_is_the_chance_that_one_of_k_passes),
		cmocka_unit_test(the_interval_is_over_tasks),
		cmocka_unit_test(wall_time_is_scaled_for_who_computes_on_a_busy_machine),
	};
	return cmocka_run_group_tests_name("judge", tests, make_scratch, remove_scratch);
}
