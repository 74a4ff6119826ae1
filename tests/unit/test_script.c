/* SPDX-License-Identifier: MIT */
/* The user's own code in workers: what it returns, throws, prints, and how a worker is lost and replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/fd.h"
#include "base/path.h"
#include "script/script.h"

static char folder[] = "/tmp/fumehood-test-XXXXXX";
static struct fh_script_pool *pool;

static const struct {
	const char *name, *text;
} files[] = {
	{ "a.py", "import helper\n"
	          "def get_assert(output, context):\n    return {'pass': output == helper.wanted, 'score': 1}\n"
	          "async def later(x):\n    return x + 1\n"
	          "class C:\n    @staticmethod\n    def method(x):\n        return x * 2\n"
	          "def fail(x):\n    raise ValueError('boom')\n"
	          "value = 5\n" },
	{ "helper.py", "wanted = 'yes'\n" },
	{ "broken.py", "def f(:\n" },
	{ "a.js",
	  "module.exports = (output, context) => output + context.x;\nmodule.exports.named = async (x) => x + 1;\n" },
	{ "b.mjs", "export default function (x) { return 'default ' + x; }\nexport const named = (x) => 'named ' + x;\n" },
	{ "c.mjs", "export const named = (x) => 'named ' + x;\n" },
	{ "provider.js", "let made = 0;\nmodule.exports = class { constructor(o) { made++; this.o = o; }\n"
	                 "  id() { return 'x'; }\n  async callApi(p) { return { output: p + this.o.id + made }; } };\n" },
	{ "bad.js", "module.exports = 5;\n" },
	{ "left.js",
	  "const fs = require('fs');\nconst write = (path) => fs.writeFileSync(path, '');\n"
	  "module.exports = {\n"
	  "  nothing: (path) => write(path),\n"
	  "  timer: (path) => { setTimeout(write, 30, path); },\n"
	  "  promise: (path) => { fs.promises.stat('.').then(() => write(path)); },\n"
	  "  chain: (path) => { let p = Promise.resolve(); for (let i = 0; i < 50; i++) p = p.then(() => i);\n"
	  "    p.then(() => write(path)); },\n"
	  "  unref: async (path) => { setTimeout(write, 60, path).unref(); await new Promise((r) => setTimeout(r, 1)); }\n"
	  "};\n" },
};

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++) {
		fh_auto_free char *path = fh_path_join(folder, files[i].name);
		if (fh_file_write_atomic(path, files[i].text, strlen(files[i].text), 0600, NULL))
			return -1;
	}
	struct fh_script_pool_options o = { .workers_max = 2 };
	pool = fh_script_pool_new(&o);
	return 0;
}

static int tear_down(void **state)
{
	fh_script_pool_free(pool);
	fh_auto_free char *command = fh_xasprintf("rm -r %s", folder);
	return system(command);
}

static struct fh_script_result call_with(struct fh_script_call *call, const char *args)
{
	fh_auto_json json_t *list = fh_json_parse(fh_str(args), NULL, NULL);
	struct fh_script_result r = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	call->args = list;
	if (fh_script_call(pool, call, &r, &err))
		fail_msg("%s", err.message);
	return r;
}

static void expect_inline(enum fh_script_language language, const char *code, const char *args,
                          enum fh_script_outcome outcome, const char *text)
{
	struct fh_script_call call = { .language = language, .code = code };
	fh_auto_script_result struct fh_script_result r = call_with(&call, args);
	fh_auto_free char *value = r.value ? fh_json_text(r.value, 0) : NULL;
	if (r.outcome != outcome || !strstr(value ? value : r.error_message, text))
		fail_msg("%s: outcome %d, %s", code, r.outcome, value ? value : r.error_message);
}

static void expect_file(const char *file, const char *function, const char *method, const char *args,
                        enum fh_script_outcome outcome, const char *text)
{
	fh_auto_free char *path = fh_path_join(folder, file);
	fh_auto_json json_t *construct = json_pack("{s:s}", "id", "7");
	struct fh_script_call call = { .file = path, .function = function, .method = method, .construct = construct };
	assert_true(fh_script_language_of(file, &call.language));
	fh_auto_script_result struct fh_script_result r = call_with(&call, args);
	fh_auto_free char *value = r.value ? fh_json_text(r.value, 0) : NULL;
	if (r.outcome != outcome || !strstr(value ? value : r.error_message, text))
		fail_msg("%s %s: outcome %d, %s", file, function ? function : "", r.outcome, value ? value : r.error_message);
}

static void test_python_inline(void **state)
{
	const enum fh_script_language py = FH_SCRIPT_PYTHON;
	expect_inline(py, "output == 'a'", "[\"a\", {}]", FH_SCRIPT_RETURNED, "true");
	expect_inline(py, "len(output) / 2", "[\"abc\", {}]", FH_SCRIPT_RETURNED, "1.5");
	expect_inline(py, "x = len(output)\nreturn json.dumps(x)", "[\"abc\", {}]", FH_SCRIPT_RETURNED, "\"3\"");
	expect_inline(py, "text = '''a\n b'''\nreturn text", "[\"\", {}]", FH_SCRIPT_RETURNED, "\"a\\n b\"");
	expect_inline(py, "if output:\n  return context['vars']['k']\nreturn 0", "[\"a\", {\"vars\": {\"k\": [1]}}]",
	              FH_SCRIPT_RETURNED, "[1]");
	expect_inline(py, "output == 'a'\n", "[\"a\", {}]", FH_SCRIPT_RETURNED, "true");
	expect_inline(py, "return output == 'a'\n", "[\"a\", {}]", FH_SCRIPT_RETURNED, "true");
	expect_inline(py, "1/0", "[\"\", {}]", FH_SCRIPT_THREW, "division by zero");
	expect_inline(py, "(", "[\"\", {}]", FH_SCRIPT_THREW, "was never closed");
	expect_inline(py, "{1}", "[\"\", {}]", FH_SCRIPT_THREW, "not JSON serializable");
	expect_inline(py, "float('nan')", "[\"\", {}]", FH_SCRIPT_THREW, "not JSON compliant");
	expect_inline(py, "None", "[\"\", {}]", FH_SCRIPT_RETURNED, "null");
	expect_inline(py, "raise SystemExit(3)\n#", "[\"\", {}]", FH_SCRIPT_THREW, "3");
}

static void test_javascript_inline(void **state)
{
	const enum fh_script_language js = FH_SCRIPT_JAVASCRIPT;
	expect_inline(js, "output === 'a'", "[\"a\", {}]", FH_SCRIPT_RETURNED, "true");
	expect_inline(js, "const n = output.length; n === 1", "[\"a\", {}]", FH_SCRIPT_RETURNED, "true");
	expect_inline(js, "const s = ';'; s + output;", "[\"a\", {}]", FH_SCRIPT_RETURNED, "\";a\"");
	expect_inline(js, "const n = 2;\nreturn {pass: n === 2};\n", "[\"a\", {}]", FH_SCRIPT_RETURNED, "{\"pass\":true}");
	expect_inline(js, "Promise.resolve(context.vars.k)", "[\"\", {\"vars\": {\"k\": 4}}]", FH_SCRIPT_RETURNED, "4");
	expect_inline(js, "typeof process.env.PATH", "[\"\", {}]", FH_SCRIPT_RETURNED, "string");
	expect_inline(js, "throw new Error('boom');\n", "[\"\", {}]", FH_SCRIPT_THREW, "Unexpected token 'throw'");
	expect_inline(js, "output.x.y", "[{}, {}]", FH_SCRIPT_THREW, "Cannot read properties of undefined");
	expect_inline(js, "const o = {a: 1}; o.o = o; o", "[\"\", {}]", FH_SCRIPT_RETURNED, "{\"a\":1}");
	expect_inline(js, "undefined", "[\"\", {}]", FH_SCRIPT_RETURNED, "null");
	struct fh_script_call call = { .language = js, .code = "() => 1" };
	fh_auto_script_result struct fh_script_result r = call_with(&call, "[\"\", {}]");
	assert_string_equal(r.type, "function");
}

static void test_python_files(void **state)
{
	expect_file("a.py", "get_assert", NULL, "[\"yes\", {}]", FH_SCRIPT_RETURNED, "\"pass\":true");
	expect_file("a.py", "later", NULL, "[1]", FH_SCRIPT_RETURNED, "2");
	expect_file("a.py", "C.method", NULL, "[4]", FH_SCRIPT_RETURNED, "8");
	expect_file("a.py", "nope", NULL, "[4]", FH_SCRIPT_MISSING, "there is no function 'nope'");
	expect_file("a.py", "value", NULL, "[4]", FH_SCRIPT_MISSING, "not a function");
	expect_file("none.py", "f", NULL, "[4]", FH_SCRIPT_MISSING, "there is no file");
	expect_file("broken.py", "f", NULL, "[4]", FH_SCRIPT_THREW, "invalid syntax");
}

static void test_javascript_files(void **state)
{
	expect_file("a.js", NULL, NULL, "[\"a\", {\"x\": \"b\"}]", FH_SCRIPT_RETURNED, "\"ab\"");
	expect_file("a.js", "named", NULL, "[1]", FH_SCRIPT_RETURNED, "2");
	expect_file("b.mjs", NULL, NULL, "[1]", FH_SCRIPT_RETURNED, "default 1");
	expect_file("b.mjs", "named", NULL, "[1]", FH_SCRIPT_MISSING, "no function 'named' on the default export");
	expect_file("c.mjs", "named", NULL, "[1]", FH_SCRIPT_RETURNED, "named 1");
	expect_file("b.mjs", "nope", NULL, "[1]", FH_SCRIPT_MISSING, "no function 'nope'");
	expect_file("none.js", NULL, NULL, "[1]", FH_SCRIPT_MISSING, "there is no file");
	expect_file("bad.js", NULL, NULL, "[1]", FH_SCRIPT_MISSING, "no default export");
	/* The class is made once, with its options. */
	expect_file("provider.js", NULL, "callApi", "[\"p\"]", FH_SCRIPT_RETURNED, "\"p71\"");
	expect_file("provider.js", NULL, "callApi", "[\"q\"]", FH_SCRIPT_RETURNED, "\"q71\"");
	expect_file("a.js", NULL, "callApi", "[\"a\", {\"x\": \"b\"}]", FH_SCRIPT_RETURNED, "\"ab\"");
}

/* What a function leaves behind when it returns goes on while no call is made. */
static void test_javascript_goes_on_between_calls(void **state)
{
	static const char *const ways[] = { "nothing", "timer", "promise", "chain", "unref" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(ways); i++) {
		struct fh_script_pool *shared = pool;
		fh_auto_free char *path = fh_path_join(folder, ways[i]);
		fh_auto_free char *args = fh_xasprintf("[\"%s\"]", path);
		pool = fh_script_pool_new(NULL);
		expect_file("left.js", ways[i], NULL, args, FH_SCRIPT_RETURNED, "null");
		for (int tick = 0; tick < 1000 && access(path, F_OK) < 0; tick++)
			usleep(10000);
		if (access(path, F_OK) < 0)
			fail_msg("what was left to a %s was not done", ways[i]);
		expect_file("a.js", NULL, NULL, "[\"a\", {\"x\": \"b\"}]", FH_SCRIPT_RETURNED, "\"ab\"");
		fh_script_pool_free(pool);
		pool = shared;
	}
}

static void test_a_traceback_is_the_users_own(void **state)
{
	fh_auto_free char *path = fh_path_join(folder, "a.py");
	struct fh_script_call call = { .language = FH_SCRIPT_PYTHON, .file = path, .function = "fail" };
	fh_auto_script_result struct fh_script_result r = call_with(&call, "[1]");
	assert_int_equal(r.outcome, FH_SCRIPT_THREW);
	assert_string_equal(r.error_name, "ValueError");
	assert_string_equal(r.error_message, "boom");
	assert_non_null(strstr(r.error_traceback, "a.py\", line 11, in fail"));
	assert_null(strstr(r.error_traceback, "worker.py"));
}

static void test_a_slow_call_costs_its_worker_alone(void **state)
{
	static const struct {
		enum fh_script_language language;
		const char *code, *after;
	} rows[] = {
		{ FH_SCRIPT_PYTHON, "while True:\n  pass\n", "1 + 1" },
		{ FH_SCRIPT_JAVASCRIPT, "while (true);\nreturn 1;\n", "1 + 1" },
		{ FH_SCRIPT_JAVASCRIPT, "new Promise(() => 0)", "1 + 1" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		struct fh_script_call call = { .language = rows[i].language, .code = rows[i].code, .timeout_ms = 200 };
		fh_auto_script_result struct fh_script_result r = call_with(&call, "[\"\", {}]");
		assert_int_equal(r.outcome, FH_SCRIPT_TIMED_OUT);
		assert_string_equal(r.error_message, "took longer than 200 ms");
		expect_inline(rows[i].language, rows[i].after, "[\"\", {}]", FH_SCRIPT_RETURNED, "2");
	}
}

static void test_a_worker_that_ends_is_replaced(void **state)
{
	expect_inline(FH_SCRIPT_PYTHON, "__import__('os')._exit(3)", "[\"\", {}]", FH_SCRIPT_DIED, "exit code 3");
	expect_inline(FH_SCRIPT_PYTHON, "1", "[\"\", {}]", FH_SCRIPT_RETURNED, "1");
	expect_inline(FH_SCRIPT_JAVASCRIPT, "process.exit(4)", "[\"\", {}]", FH_SCRIPT_DIED, "exit code 4");
	expect_inline(FH_SCRIPT_JAVASCRIPT, "process.kill(process.pid, 'SIGKILL')\nreturn new Promise(() => 0);",
	              "[\"\", {}]", FH_SCRIPT_DIED, "signal 9");
	expect_inline(FH_SCRIPT_JAVASCRIPT, "1", "[\"\", {}]", FH_SCRIPT_RETURNED, "1");
}

static void test_prints_and_stdin_do_no_harm(void **state)
{
	expect_inline(FH_SCRIPT_PYTHON, "print('(a print of the test)')", "[\"\", {}]", FH_SCRIPT_RETURNED, "null");
	expect_inline(FH_SCRIPT_PYTHON, "__import__('sys').stdin.read()", "[\"\", {}]", FH_SCRIPT_RETURNED, "\"\"");
	expect_inline(FH_SCRIPT_JAVASCRIPT, "console.log('(a print of the test)')", "[\"\", {}]", FH_SCRIPT_RETURNED,
	              "null");
	expect_inline(FH_SCRIPT_PYTHON, "__import__('os').system('echo \"(a print of the test)\"')", "[\"\", {}]",
	              FH_SCRIPT_RETURNED, "0");
}

static void test_large_and_odd_values_pass(void **state)
{
	size_t n = 3 << 20;
	fh_auto_free char *text = fh_xcalloc(n + 1, 1);
	memset(text, 'x', n);
	fh_auto_json json_t *args = json_array();
	json_array_append_new(args, json_string(text));
	json_array_append_new(args, json_object());
	for (int l = 0; l < FH_SCRIPT_LANGUAGE_COUNT_; l++) {
		struct fh_script_call call = { .language = (enum fh_script_language)l, .code = "output", .args = args };
		fh_auto_script_result struct fh_script_result r = { 0 };
		assert_int_equal(fh_script_call(pool, &call, &r, NULL), 0);
		assert_int_equal(json_string_length(r.value), n);
		expect_inline(call.language, "output", "[\"\\u0000\\u00e9\\ud83d\\ude00\\n\", {}]", FH_SCRIPT_RETURNED,
		              "é😀\\n");
	}
	expect_inline(FH_SCRIPT_PYTHON, "'\\ud800'", "[\"\", {}]", FH_SCRIPT_RETURNED, "?");
}

static void *call_in_a_thread(void *user)
{
	for (int i = 0; i < 20; i++) {
		fh_auto_json json_t *args = json_pack("[i, {}]", i);
		struct fh_script_call call = { .language = FH_SCRIPT_PYTHON, .code = "output * 2", .args = args };
		fh_auto_script_result struct fh_script_result r = { 0 };
		if (fh_script_call(pool, &call, &r, NULL) || json_integer_value(r.value) != 2 * i)
			return user;
	}
	return NULL;
}

static void test_threads_share_the_pool(void **state)
{
	pthread_t threads[6];
	for (size_t i = 0; i < FH_ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_in_a_thread, threads), 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(threads); i++) {
		void *failed;
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

static void test_a_call_may_name_its_interpreter(void **state)
{
	static const char wrapper[] = "#!/bin/sh\nMARK=mine exec python3 \"$@\"\n";
	fh_auto_free char *mine = fh_path_join(folder, "mypython");
	assert_int_equal(fh_file_write_atomic(mine, wrapper, strlen(wrapper), 0700, NULL), 0);
	for (int i = 0; i < 6; i++) {
		struct fh_script_call call = { .language = FH_SCRIPT_PYTHON, .program = i % 2 ? mine : NULL };
		call.code = "__import__('os').environ.get('MARK')";
		fh_auto_script_result struct fh_script_result r = call_with(&call, "[\"\", {}]");
		assert_int_equal(r.outcome, FH_SCRIPT_RETURNED);
		assert_int_equal(json_is_string(r.value), i % 2);
	}
	struct fh_script_call call = { .language = FH_SCRIPT_PYTHON, .program = "/nonexistent/python", .code = "1" };
	fh_auto_json json_t *args = json_array();
	call.args = args;
	struct fh_script_result r = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_script_call(pool, &call, &r, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "/nonexistent/python"));
}

static void test_no_interpreter(void **state)
{
	fh_auto_json json_t *env = json_pack("{s:s}", "PATH", "/nonexistent"), *args = json_array();
	struct fh_script_pool_options o = { .env = env };
	struct fh_script_pool *other = fh_script_pool_new(&o);
	struct fh_script_call call = { .language = FH_SCRIPT_JAVASCRIPT, .code = "1", .args = args };
	struct fh_script_result r = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	assert_int_equal(fh_script_call(other, &call, &r, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "there is no node on PATH"));
	assert_non_null(strstr(err.hint, "nodejs"));
	fh_script_pool_free(other);
}

static void test_cancel(void **state)
{
	volatile int cancel = 1;
	fh_auto_json json_t *args = json_array();
	struct fh_script_pool_options o = { .cancel = &cancel };
	struct fh_script_pool *other = fh_script_pool_new(&o);
	struct fh_script_call call = { .language = FH_SCRIPT_PYTHON, .code = "1", .args = args };
	struct fh_script_result r = { 0 };
	assert_int_equal(fh_script_call(other, &call, &r, NULL), -FH_E_CANCELLED);
	fh_script_pool_free(other);
}

int main(void)
{
	fh_auto_free char *node = fh_path_which("node", getenv("PATH")), *python = fh_path_which("python3", getenv("PATH"));
	if (!node || !python) {
		fprintf(stderr, "needs node and python3 (packages nodejs, python3)\n");
		return 77; /* meson's word for a skip */
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_inline),
		cmocka_unit_test(test_javascript_inline),
		cmocka_unit_test(test_python_files),
		cmocka_unit_test(test_javascript_files),
		cmocka_unit_test(test_javascript_goes_on_between_calls),
		cmocka_unit_test(test_a_traceback_is_the_users_own),
		cmocka_unit_test(test_a_slow_call_costs_its_worker_alone),
		cmocka_unit_test(test_a_worker_that_ends_is_replaced),
		cmocka_unit_test(test_prints_and_stdin_do_no_harm),
		cmocka_unit_test(test_large_and_odd_values_pass),
		cmocka_unit_test(test_threads_share_the_pool),
		cmocka_unit_test(test_a_call_may_name_its_interpreter),
		cmocka_unit_test(test_no_interpreter),
		cmocka_unit_test(test_cancel),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
