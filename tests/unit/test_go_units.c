/* SPDX-License-Identifier: MIT */
/* What is read from a Go declaration and test, and the files that are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "judge/go_units.h"
#include "judge/signature.h"

#define START "package main\n\nimport fhSplit \"fhsplit\"\n"

static struct fh_buf shown;

/* "NAME TYPE after N bytes", or why not. */
static const char *read_one(const char *declaration)
{
	fh_auto_signature struct fh_signature s = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_buf_release(&shown);
	if (fh_go_signature(fh_str(declaration), &s, &err) < 0)
		fh_buf_adds(&shown, err.message);
	else
		fh_buf_addf(&shown, "%.*s %.*s after %zu", FH_STR_ARGS(s.name), FH_STR_ARGS(s.result), s.start);
	return fh_buf_cstr(&shown);
}

static void test_signature(void **state)
{
	static const struct {
		const char *declaration, *found;
	} rows[] = {
		{ "func F(n int) int {", "F (n int) int after 0" },
		{ "func F() {\n", "F () after 0" },
		{ "import (\n\"math\"\n)\n\nfunc g() int { return 1 }\n\nfunc F(a, b []int) (n int, e error) {\n",
		  "F (a, b []int) (n int, e error) after 46" },
		{ "func F(a []interface{}, m map[string]struct{ x int }) interface{} {",
		  "F (a []interface{}, m map[string]struct{ x int }) interface{} after 0" },
		{ "// func G() {\n/*\nfunc H() { */\nfunc F(s string) string { // {", "F (s string) string after 31" },
		{ "var s = `\nfunc G() {\n`\nfunc F(s ...string) [2]rune {\n\tif s == '{' {",
		  "F (s ...string) [2]rune after 23" },
		{ "func F(n int) int { return n }", "the declaration does not open a function's body" },
		{ "func (a A) F() int {", "the entry point is a method" },
		{ "func F[T any](t T) T {", "the entry point is generic" },
		{ "func F(g func() int) int {", "the entry point takes or gives a function or a channel" },
		{ "func F(function []int) <-chan int {", "the entry point takes or gives a function or a channel" },
		{ "func F(function, channel int) {", "F (function, channel int) after 0" },
		{ "func main() {", "the entry point is one that nothing can call" },
		{ "type F struct {", "the entry point is no plain function" },
		{ "", "the declaration does not open a function's body" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++)
		assert_string_equal(read_one(rows[i].declaration), rows[i].found);
	assert_true(fh_str_eq(fh_go_name(fh_str("func F(n int) int {")), "F"));
	assert_int_equal(fh_go_name(fh_str("func F(n int) int")).n, 0);
}

static void assert_judge(const char *declaration, const char *test, const char *wanted)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	if (fh_go_judge(fh_str(declaration), fh_str(test), &out, &err) < 0)
		assert_string_equal(err.message, wanted);
	else
		assert_string_equal(fh_buf_cstr(&out), wanted);
}

static void the_judge_has_imports_stand_in_and_tests(void **state)
{
	assert_judge(
	    "import (\n\t\"math\" // used\n\t\"sort\"\n)\npackage main\nimport (\n\"testing\"\n\"math\"\n"
	    "\"github.com/stretchr/testify/assert\"\n)\n\ntype P struct{ x int }\n\nfunc g(p P) P { return p }\n\n"
	    "func F(p P) float64 {\n",
	    "func TestF(t *testing.T) {\n\tassert.Equal(t, math.Pi, F(g(P{1})), \"testing.T sort.Ints\")\n}\n"
	    "func TestingF() {}\n\nfunc Test_2(x *testing.T) {}\n",
	    START
	    "import \"math\"\nvar assert fhSplit.Assert\n\n\ntype P struct{ x int }\n\nfunc g(p P) P { return p }\n\n\n"
	    "var F = fhSplit.StandIn((func(p P) float64)(nil), (*P)(nil)).(func(p P) float64)\n"
	    "func TestF(t *fhSplit.T) {\n\tassert.Equal(t, math.Pi, F(g(P{1})), \"testing.T sort.Ints\")\n}\n"
	    "func TestingF() {}\n\nfunc Test_2(x *fhSplit.T) {}\n\n"
	    "\nfunc main() {\n\tfhSplit.Judge([]fhSplit.Test{\n\t\t{\"TestF\", TestF},\n\t\t{\"Test_2\", Test_2},\n"
	    "\t})\n}\n");
	assert_judge(
	    "func F() {\n",
	    "import r \"github.com/stretchr/testify/require\"\nfunc TestF(t *testing.T) { r.Equal(t, 1, rand.Int()) }",
	    START "import \"math/rand\"\nvar r fhSplit.Assert\n\nvar F = fhSplit.StandIn((func())(nil)).(func())\n"
	          "\nfunc TestF(t *fhSplit.T) { r.Equal(t, 1, rand.Int()) }\n\n"
	          "func main() {\n\tfhSplit.Judge([]fhSplit.Test{\n\t\t{\"TestF\", TestF},\n\t})\n}\n");
	assert_judge("func F() {\n", "func test() {}\n", "the test has no Test functions");
	assert_judge("func F() {\n", "func TestMain(m *testing.M) {}\n", "the test has a TestMain");
	assert_judge("func F() {\n", "import \"github.com/stretchr/testify/mock\"\nfunc TestF(t *testing.T) {}\n",
	             "the test imports \"github.com/stretchr/testify/mock\"");
	assert_judge("func F() {\n", "import x \"testing\"\nfunc TestF(t *x.T) {}\n", "the test imports x \"testing\"");
	assert_judge("func F() {\n", "import \"\"\nfunc TestF() {}\n", "it has an import of nothing");
}

static void assert_candidate(const char *declaration, const char *head, const char *completion, const char *solution,
                             const char *main_file)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), serve = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	static const char test[] = "import \"bytes\"\nfunc TestF(t *testing.T) { m.Max(bytes.MinRead, a...) } // io.X";
	assert_int_equal(
	    fh_go_candidate(fh_str(declaration), fh_str(test), fh_str(head), fh_str(completion), &out, &serve, &err), 0);
	assert_string_equal(fh_buf_cstr(&out), solution);
	assert_string_equal(fh_buf_cstr(&serve), main_file);
}

static void the_candidate_gets_what_it_uses(void **state)
{
	static const char head[] = "import (\n\"math\"\n\"time\"\n)\npackage main\nimport \"testing\"\n\ntype P = int\n"
	                           "func F(p P, d time.Duration) int {\n";
	static const char serve[] =
	    START "import \"time\"\n\nvar fhSplitEntry func(p P, d time.Duration) int = F\n\nfunc init() {\n"
	          "\tfhSplit.Serve(fhSplitEntry, (*P)(nil))\n}\n\nfunc main() {}\n";
	static const char own_main[] =
	    START "import \"time\"\n\nvar fhSplitEntry func(p P, d time.Duration) int = F\n\nfunc init() {\n"
	          "\tfhSplit.Serve(fhSplitEntry, (*P)(nil))\n}\n";
	assert_candidate(
	    head, head, "\t// math.Pi\n\treturn len(strings.Split(`math.Pi`, x.sort.y))\n}\n",
	    "package main\nimport \"time\"\nimport \"strings\"\n\n\ntype P = int\nfunc F(p P, d time.Duration) int {\n"
	    "\t// math.Pi\n\treturn len(strings.Split(`math.Pi`, x.sort.y))\n}\n\n",
	    serve);
	assert_candidate(head, "", "package other; import (\"os\"; m2 \"math\")\nfunc F() { fmt.Print(1) }\nfunc main() {}",
	                 "package main\nimport \"os\"\nimport m2 \"math\"\nimport \"fmt\"\n\nfunc F() { fmt.Print(1) "
	                 "}\nfunc main() {}\n",
	                 own_main);
	assert_candidate(
	    "import \"time\"\nfunc F(d ...time.Duration) {\n", "import \"time\"\nfunc F(d ...time.Duration) {\n",
	    "\tx.bytes.y(1)\n}\nfunc g(b ...bytes.Buffer) {}\n",
	    "package main\nimport \"time\"\nimport \"bytes\"\n\nfunc F(d ...time.Duration) {\n\tx.bytes.y(1)\n}\n"
	    "func g(b ...bytes.Buffer) {}\n\n",
	    START "import \"time\"\n\nvar fhSplitEntry func(d ...time.Duration) = F\n\nfunc init() {\n"
	          "\tfhSplit.Serve(fhSplitEntry)\n}\n\nfunc main() {}\n");
	assert_candidate(head, "", "package main;\nimport \"os\"; import (\"io\") ;;\nfunc F() { os.Exit(io.X) }",
	                 "package main\nimport \"os\"\nimport \"io\"\n\nfunc F() { os.Exit(io.X) }\n", serve);
	/* What only the test uses, of the test's own packages, too; not what nothing does. */
	assert_candidate(
	    head, "",
	    "import (\n\"bytes\"\n\"io\"\nm \"math\"\n\"testing\"\n_ \"bytes\"\n. \"io\"\n)\nfunc F() { testing.Short() }",
	    "package main\nimport \"io\"\nimport \"testing\"\nimport _ \"bytes\"\nimport . \"io\"\n\nfunc F() { "
	    "testing.Short() }\n",
	    serve);
	assert_candidate(head, "", "import (\"os", "package main\nimport \"os\n\n", serve);
	assert_candidate(head, "", "import ( \"\n`", "package main\nimport ( \"\n`\n", serve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signature),
		cmocka_unit_test(the_judge_has_imports_stand_in_and_tests),
		cmocka_unit_test(the_candidate_gets_what_it_uses),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	fh_buf_release(&shown);
	return failed;
}
