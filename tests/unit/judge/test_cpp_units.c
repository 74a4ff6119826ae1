/* SPDX-License-Identifier: MIT */
/* What is read from a C++ declaration, and the texts that are made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "code/signature.h"
#include "judge/languages/cpp_adapter.h"
#include "judge/languages/cpp_units.h"

static struct fh_buf shown;

/* "RESULT NAME(TYPE|name, …) after N bytes", or why not. */
static const char *read_one(const char *declaration)
{
	fh_auto_signature struct fh_signature s = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_buf_release(&shown);
	if (fh_cpp_signature(fh_str(declaration), &s, &err) < 0)
		return err.message[0] ? (fh_buf_adds(&shown, err.message), shown.p) : "no reason";
	fh_buf_addf(&shown, "%.*s %.*s(", FH_STR_ARGS(s.result), FH_STR_ARGS(s.name));
	for (size_t i = 0; i < s.parameter_count; i++)
		fh_buf_addf(&shown, "%s%.*s|%.*s", i ? ", " : "", FH_STR_ARGS(s.parameters[i].type),
		            FH_STR_ARGS(s.parameters[i].name));
	fh_buf_addf(&shown, ") after %zu", s.start);
	return shown.p;
}

static void test_signature(void **state)
{
	static const struct {
		const char *declaration, *found;
	} rows[] = {
		{ "int f(int n){", "int f(int n|n) after 0" },
		{ "int f(){", "int f() after 0" },
		{ "int f(void) noexcept {", "int f() after 0" },
		{ "#include<a>\nbool has(vector<float> v, float t){", "bool has(vector<float> v|v, float t|t) after 11" },
		{ "int g(){ return 1; }string f(string s){", "string f(string s|s) after 20" },
		{ "int g();int f(unsigned, const string &){", "int f(unsigned|, const string &|) after 8" },
		{ "map<int,int> f(map<int,vector<int>> m, std::string){",
		  "map<int,int> f(map<int,vector<int>> m|m, std::string|) after 0" },
		{ "int f(int a = 1, string b = \"),{\", vector<int> c = {1, 2}){",
		  "int f(int a|a, string b|b, vector<int> c|c) after 0" },
		{ "/* int g(){ */ int f( // {\n int n /* , int m */){ // {", "int f(int n|n) after 0" },
		{ "const char *f(const char *s){", "const char * f(const char *s|s) after 0" },
		{ "std::vector<int> f(int n){ for (;;) { if (n) {", "std::vector<int> f(int n|n) after 0" },
		{ "#define A { \\\n {\nint f(int n){", "int f(int n|n) after 16" },
		{ "int f(int n);", "the declaration does not open a function's body" },
		{ "int f(int n){ return 1; }", "the declaration does not open a function's body" },
		{ "", "the declaration does not open a function's body" },
		{ "}}}}{", "the declaration does not open a function's body" },
		{ "template<class T> T f(T t){", "the entry point is a template" },
		{ "class A { int f(){", "the entry point is a class" },
		{ "namespace a {", "the entry point is a namespace" },
		{ "static int f(){", "the entry point is static" },
		{ "int A::f(){", "the entry point is a member function" },
		{ "int &f(int &n){", "the entry point gives a reference" },
		{ "auto f(int n) -> int {", "the entry point has no result type in its declaration" },
		{ "int f(int n[]){", "the entry point takes an array by its address" },
		{ "int f(int (*g)(int)){", "the entry point takes a function, or arguments without types" },
		{ "int f(const char *s, ...){", "the entry point takes a function, or arguments without types" },
		{ "int f(std::function<int(int)> g){", "the entry point takes a function" },
		{ "int a[] = {", "the entry point is not a plain function" },
		{ "f(int n){", "the entry point is not a plain function" },
		{ "int f(int a,,){", "the entry point has a parameter that is empty" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		assert_string_equal(read_one(rows[i].declaration), rows[i].found);
	fh_buf_release(&shown);
}

static bool holds(const struct fh_buf *b, const char *text)
{
	return memmem(b->p, b->n, text, strlen(text)) != NULL;
}

static void test_texts(void **state)
{
	const struct fh_cpp_texts texts = { fh_str("CODEC"), fh_str("SIDES"), fh_str("ANY"), fh_str("ENGINES\n") };
	fh_auto_buf struct fh_buf glue = FH_BUF_INIT(0), test = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	struct fh_str declaration = fh_str("int help(){ return 41; }\nint f(int a, unsigned = 2){");
	assert_int_equal(fh_cpp_units(&texts, declaration, fh_str("int main(){ f(77); }"), &glue, &test, &err), 0);
	assert_true(fh_starts_with(glue.p, "CODECSIDES\n"));
	assert_true(holds(&glue, "return 41"));
	assert_true(holds(&glue, "int f(int a, unsigned fh_split_1)\n{"));
	assert_true(holds(&glue, "nullptr), a, fh_split_1);"));
	/* What the test expects stands in the test's text alone; default values are for the test. */
	assert_false(holds(&glue, "77"));
	assert_false(holds(&glue, "ANY"));
	assert_true(holds(&test, "int f(int a, unsigned = 2);\n"));
	assert_true(holds(&test, "f(77)"));
	assert_false(holds(&test, "CODEC"));
	assert_false(holds(&test, "SIDES"));

	fh_buf_truncate(&glue, 0);
	fh_buf_truncate(&test, 0);
	assert_int_equal(fh_cpp_units(&texts, fh_str("#include <any>\nstd::any f(std::any a){"), fh_str("int main(){}"),
	                              &glue, &test, &err),
	                 0);
	assert_true(holds(&glue, "#include <any>\nANY"));
	assert_false(holds(&test, "ENGINES"));

	/* What a test draws from an engine of the standard library begins where only the judge's process does. */
	fh_buf_truncate(&glue, 0);
	fh_buf_truncate(&test, 0);
	assert_int_equal(
	    fh_cpp_units(&texts, declaration, fh_str("int main(){ std::mt19937 g; f(g()); }"), &glue, &test, &err), 0);
	assert_true(fh_starts_with(test.p, "ENGINES\n"));
}

static void test_who_needs_an_adapter(void **state)
{
	static const char declaration[] = "#include<a>\nint f(vector<int> v, string s){";
	static const struct {
		const char *program;
		bool needs;
	} rows[] = {
		{ "int f(vector<int> v, string s){ return 1; }", false },
		{ "int f ( std::vector< int >numbers,std::string ) noexcept\n{ return 1; }", false },
		{ "int g(){ return f(v, s); } int f(vector<int> v, string s); int f(vector<int> v, string s) {}", false },
		{ "int f(int n){ return n; } int f(vector<int> v, string s){ return 1; }", false },
		{ "// int f(int n) {\nint f(vector<int> v, string s){", false },
		{ "int f(vector<int> &v, string s){}", true },
		{ "int f(const vector<int> v, string s){}", true },
		{ "long f(vector<int> v, string s){}", true },
		{ "int f(vector<int> v){}", true },
		{ "int ff(vector<int> v, string s){}", true },
		{ "static int f(vector<int> v, string s){}", true },
		{ "template<class T> int f(T v, string s){}", true },
		{ "auto f = [](vector<int> v, string s){};", true },
		{ "struct A { int f(vector<int> v, string s){} };", true },
		{ "/* int f(vector<int> v, string s){} */", true },
		{ "const char *f = \"int f(vector<int> v, string s){\";", true },
		{ "#define int long\nint f(vector<int> v, string s){}", true },
		{ "#define ll long\nint f(vector<int> v, string s){}", false },
		{ "int f(vector<int> v, string s);", true },
		{ "f f( f) f(( f{ f)){ f", true },
		{ "#define", true },
		{ "", true },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		struct fh_error err = FH_ERROR_INIT;
		int r = fh_cpp_adapter(fh_str("HELPERS\n"), fh_str(declaration), 0, fh_str(rows[i].program), &out, &err);
		if (r != rows[i].needs || (out.n > 0) != rows[i].needs)
			fail_msg("%s: %d, %zu bytes", rows[i].program, r, out.n);
		if (r && (!holds(&out, "HELPERS\n#include<a>\nnamespace fh_split_adapter {\nusing namespace std;\nint "
		                       "fh_split_function(vector<int> v, string s)\n{\n\treturn fh_split_fit<int, ") ||
		          !holds(&out, "\t::f(static_cast<decltype(v) &&>(v), static_cast<decltype(s) &&>(s))\n")))
			fail_msg("%s: %s", rows[i].program, out.p);
	}
}

/* The program's macros end before the adapter's headers, but for one that stands for the function. */
static void test_macros_end_before_an_adapter(void **state)
{
	static const struct {
		const char *program, *undefs, *fit;
	} rows[] = {
		{ "#define int long long\n#define max(a, b) a\nint f(vector<int> v, string s){}",
		  "#undef int\n#undef max\nHELPERS", "fh_split_fit<int, true>(" },
		{ "#define max(a, b) a\nlong f(vector<int> v, string s){}", "#undef max\nHELPERS",
		  "fh_split_fit<int, false>(" },
		{ "#define f g\n# define _A\n", "cpp\"\nHELPERS", "fh_split_fit<int, true>(" },
		{ "// #define a\nlong f(vector<int> v, string s){}", "cpp\"\nHELPERS", "fh_split_fit<int, false>(" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
		struct fh_error err = FH_ERROR_INIT;
		const struct fh_str declaration = fh_str("int f(vector<int> v, string s){");
		assert_int_equal(fh_cpp_adapter(fh_str("HELPERS\n"), declaration, 0, fh_str(rows[i].program), &out, &err), 1);
		if (!holds(&out, rows[i].undefs) || !holds(&out, rows[i].fit))
			fail_msg("%s: %s", rows[i].program, out.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signature),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_who_needs_an_adapter),
		cmocka_unit_test(test_macros_end_before_an_adapter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
