/* SPDX-License-Identifier: MIT */
/* Language files: those that we ship, and what is said of a wrong one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "proto/plan.h"
#include "sandbox/planning/language.h"

static void languages_have_names_aliases_and_extensions(void **state)
{
	static const char *const names[][2] = {
		{ "python", "python" }, { "py", "python" },       { "python3", "python" },
		{ "js", "javascript" }, { "node", "javascript" }, { "sh", "bash" },
		{ "c", "c" },           { "c++", "cpp" },         { "golang", "go" },
		{ "rs", "rust" },       { "java", "java" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		fh_auto_language struct fh_language *l = NULL;
		assert_int_equal(fh_language_load(names[i][0], &l, NULL), 0);
		assert_string_equal(l->name, names[i][1]);
	}
	static const char *const files[][2] = {
		{ "a.py", "python" },
		{ "dir.c/b.js", "javascript" },
		{ "x.mjs", "javascript" },
		{ "run.sh", "bash" },
		{ "a.c", "c" },
		{ "a.cc", "cpp" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(files); i++) {
		fh_auto_language struct fh_language *l = NULL;
		assert_int_equal(fh_language_for_file(files[i][0], &l, NULL), 0);
		assert_string_equal(l->name, files[i][1]);
	}
}

static void an_unknown_language_names_the_nearest(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_language *l = NULL;
	assert_int_equal(fh_language_load("pythn", &l, &err), -FH_E_NOT_FOUND);
	assert_string_equal(err.message, "unknown language pythn");
	assert_non_null(strstr(err.hint, "did you mean python?"));
	assert_int_equal(fh_language_load("../languages/c", &l, &err), -FH_E_NOT_FOUND);
	assert_int_equal(fh_language_for_file("a.txt", &l, &err), -FH_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "-l"));
	assert_null(l);
}

static void a_compiler_has_limits_of_its_own(void **state)
{
	fh_auto_language struct fh_language *l = NULL;
	assert_int_equal(fh_language_load("cpp", &l, NULL), 0);
	assert_true(l->compile[0] != NULL);
	assert_int_equal(l->compile_limits.value[FH_LIMIT_CPU_TIME], 30000);
	assert_int_equal(l->compile_limits.value[FH_LIMIT_WALL_TIME], 60000);
	assert_int_equal(l->compile_limits.value[FH_LIMIT_MEMORY], (uint64_t)1 << 30);
}

static void includes_bring_their_libraries(void **state)
{
	static const struct {
		const char *code, *flags;
	} cases[] = {
		{ "#include <openssl/md5.h>\n", "-lcrypto" },
		{ "  #  include\t<openssl/ssl.h>\nint x;\n#include <openssl/md5.h>", "-lssl -lcrypto" },
		{ "#include \"openssl/md5.h\"", "-lcrypto" },
		{ "// #include <openssl/md5.h>\n", "" },
		{ "#include <stdio.h>\n#include", "" },
		{ "", "" },
	};
	fh_auto_language struct fh_language *l = NULL;
	assert_int_equal(fh_language_load("cpp", &l, NULL), 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		char **list = fh_xcalloc(1, sizeof(char *));
		fh_auto_buf struct fh_buf joined = FH_BUF_INIT(0);
		fh_language_link_flags(l, fh_str(cases[i].code), &list);
		for (size_t k = 0; list[k]; k++)
			fh_buf_addf(&joined, "%s%s", k ? " " : "", list[k]);
		assert_string_equal(fh_buf_cstr(&joined), cases[i].flags);
		fh_plan_set_strings(&list, NULL);
		free(list);
	}
}

#define GOOD                                                                                                           \
	"\"name\": \"x\", \"extensions\": [], \"file\": \"m.x\", \"tools\": [\"x\"], \"package\": \"x\", \"run\": "        \
	"[\"{tool}\"]"

static void a_wrong_file_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *json, *message;
		unsigned line, column;
	} cases[] = {
		{ "{" GOOD ",\n \"extension\": []}", "unknown key \"extension\"", 2, 2 },
		{ "{" GOOD ",\n \"aliases\": [\"a\",\n   3]}", "expected a string, not an integer", 3, 4 },
		{ "{" GOOD ",\n\n \"compile\": {\"argv\": []}}", "the key \"artifact\" is missing", 3, 2 },
		{ "{" GOOD ",\n \"compile\": {\"argv\": [], \"artifact\": \"a\", \"limits\": {\n\"memory\": \"1X\"}}}", NULL, 3,
		  1 },
		{ "{" GOOD ",\n \"compile\": {\"argv\": [], \"artifact\": \"a\", \"limits\": {\n\"memry\": \"1M\"}}}",
		  "unknown key \"memry\"", 3, 1 },
		{ "{\"name\": \"x\"}", "the key \"extensions\" is missing", 1, 1 },
		{ "{" GOOD ",\n \"env\": [\"A\"]}", "\"env\": A is not NAME=value", 1, 1 },
		{ "[]", "expected an object, not an array", 1, 1 },
		{ "{" GOOD ",\n}", NULL, 2, 1 },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(cases); i++) {
		struct fh_language *l = NULL;
		struct fh_error err = FH_ERROR_INIT;
		assert_true(fh_language_parse(fh_str(cases[i].json), "x.json", &l, &err) < 0);
		assert_null(l);
		assert_int_equal(err.code, FH_E_CONFIG);
		assert_string_equal(err.file, "x.json");
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
	}
	struct fh_language *l = NULL;
	assert_int_equal(fh_language_parse(fh_str("{" GOOD "}"), "x.json", &l, NULL), 0);
	fh_language_free(l);
}

static void a_header_that_is_not_there_has_a_package(void **state)
{
	fh_auto_language struct fh_language *l = NULL;
	assert_int_equal(0, fh_language_load("cpp", &l, NULL));
	assert_string_equal("libboost-dev", fh_language_missing_package(
	                                        l, "test.cpp:1:10: fatal error: boost/any.hpp: No such file or directory"));
	assert_string_equal("libboost-dev",
	                    fh_language_missing_package(l, "a.cpp:1:10: fatal error: 'boost/any.hpp' file not found"));
	assert_null(fh_language_missing_package(l, "fatal error: mine.h: No such file or directory"));
	assert_null(fh_language_missing_package(l, "error: boost/any.hpp is a name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_that_is_not_there_has_a_package),
		cmocka_unit_test(languages_have_names_aliases_and_extensions),
		cmocka_unit_test(an_unknown_language_names_the_nearest),
		cmocka_unit_test(a_compiler_has_limits_of_its_own),
		cmocka_unit_test(includes_bring_their_libraries),
		cmocka_unit_test(a_wrong_file_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
