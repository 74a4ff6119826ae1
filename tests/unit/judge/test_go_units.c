/* SPDX-License-Identifier: MIT */
/* What is read from a Go declaration and test, and the files that are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "code/signature.h"
#include "judge/languages/go_units.h"

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
		{ "type F struct {", "the entry point is not a plain function" },
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
	assert_judge("func F() {\n", "func TestMain(m *testing.M) {}\n",
	             "the test has a TestMain: let a func init, or each test, do what it does");
	assert_judge("func F() {\n", "import \"github.com/stretchr/testify/mock\"\nfunc TestF(t *testing.T) {}\n",
	             "the test imports \"github.com/stretchr/testify/mock\"");
	assert_judge("func F() {\n", "import x \"testing\"\nfunc TestF(t *x.T) {}\n", "the test imports x \"testing\"");
	assert_judge("func F() {\n", "import \"\"\nfunc TestF() {}\n", "it has an import without a path");
}

/* imports that no program here has */
static const char *const lacking[] = { "import \"strings\"", "import \"fmt\"", "import \"errors\"",
	                                   "import \"bytes\"" };

static void assert_candidate(const char *declaration, const char *head, const char *completion, const char *solution,
                             const char *main_file)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), serve = FH_BUF_INIT(0);
	struct fh_error err = FH_ERROR_INIT;
	static const char test[] = "import \"bytes\"\nfunc TestF(t *testing.T) { m.Max(bytes.MinRead, a...) } // io.X";
	fh_auto_buf struct fh_buf plain = FH_BUF_INIT(0), unused = FH_BUF_INIT(0);
	assert_int_equal(
	    fh_go_candidate(fh_str(declaration), fh_str(test), fh_str(head), fh_str(completion), true, &out, &serve, &err),
	    0);
	assert_string_equal(fh_buf_cstr(&out), solution);
	assert_string_equal(fh_buf_cstr(&serve), main_file);
	assert_int_equal(fh_go_candidate(fh_str(declaration), fh_str(test), fh_str(head), fh_str(completion), false, &plain,
	                                 &unused, &err),
	                 0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(lacking); i++) /* not where the program compiles without */
		assert_null(strstr(fh_buf_cstr(&plain), lacking[i]));
}

static void what_is_served(void **state)
{
	static const struct {
		const char *declaration, *entry;
	} rows[] = {
		{ "func F() int {", "func() int = F" },
		{ "func F(a int) {", "func(a int) = func(a int) { F(a) }" },
		{ "func F(a (int)) {", "func(a (int)) = func(a (int)) { F(a) }" },
		{ "func F(a, b int, m map[string]int) (int, error) {",
		  "func(a, b int, m map[string]int) (int, error) = func(a, b int, m map[string]int) (int, error) { "
		  "return F(a, b, m) }" },
		{ "func F(s string, n ...[]int) (t int) {",
		  "func(s string, n ...[]int) (t int) = func(s string, n ...[]int) (t int) { return F(s, n...) }" },
		/* no names to call it with */
		{ "func F(int, string) int {", "func(int, string) int = F" },
		{ "func F([]int) int {", "func([]int) int = F" },
		{ "func F(_ int, b int) int {", "func(_ int, b int) int = F" },
		{ "func F(time.Time, ...int) {", "func(time.Time, ...int) = F" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		fh_auto_buf struct fh_buf out = FH_BUF_INIT(0), serve = FH_BUF_INIT(0), wanted = FH_BUF_INIT(0);
		struct fh_error err = FH_ERROR_INIT;
		struct fh_str declaration = fh_str(rows[i].declaration);
		fh_buf_addf(&wanted, "\nvar fhSplitEntry %s\n", rows[i].entry);
		assert_int_equal(fh_go_candidate(declaration, fh_str(""), declaration, fh_str("}"), false, &out, &serve, &err),
		                 0);
		if (!strstr(fh_buf_cstr(&serve), wanted.p))
			fail_msg("%s: %s", rows[i].entry, serve.p);
	}
}

static void the_candidate_gets_what_it_uses(void **state)
{
	static const char head[] = "import (\n\"math\"\n\"time\"\n)\npackage main\nimport \"testing\"\n\ntype P = int\n"
	                           "func F(p P, d time.Duration) int {\n";
	static const char serve[] = START "import \"time\"\n\nvar fhSplitEntry func(p P, d time.Duration) int = func(p P, "
	                                  "d time.Duration) int { return F(p, d) }\n\nfunc init() {\n"
	                                  "\tfhSplit.Serve(fhSplitEntry, (*P)(nil))\n}\n\nfunc main() {}\n";
	static const char own_main[] = START "import \"time\"\n\nvar fhSplitEntry func(p P, d time.Duration) int = func(p "
	                                     "P, d time.Duration) int { return F(p, d) }\n\nfunc init() {\n"
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
	    START "import \"time\"\n\nvar fhSplitEntry func(d ...time.Duration) = func(d ...time.Duration) { F(d...) "
	          "}\n\nfunc init() {\n"
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
	assert_candidate(
	    head, "", "func F() { time.Now(); errors.New(x.unicode.y) }",
	    "package main\nimport \"time\"\nimport \"errors\"\nfunc F() { time.Now(); errors.New(x.unicode.y) }\n", serve);
	assert_candidate(head, "", "import (\"os", "package main\nimport \"os\n\n", serve);
	assert_candidate(head, "", "import ( \"\n`", "package main\nimport ( \"\n`\n", serve);
}

/* The four files as one text, with K for the key. */
static const char *whole_of(const struct fh_go_task *task, const char *head, const char *completion)
{
	fh_auto_go_whole w = { .key = FH_BUF_INIT(0) };
	struct fh_error err = FH_ERROR_INIT;
	fh_buf_release(&shown);
	if (fh_go_whole(task, fh_str(head), fh_str(completion), &w, &err) < 0) {
		fh_buf_adds(&shown, err.message);
		return fh_buf_cstr(&shown);
	}
	const char *key = strchr(fh_buf_cstr(&w.key), '"') + 1;
	const struct fh_str all[] = { fh_buf_str(&w.names), fh_buf_str(&w.solution), fh_buf_str(&w.main),
		                          fh_buf_str(&w.key) };
	for (size_t i = 0; i < FH_ARRAY_SIZE(all); i++) {
		const char *at = memmem(all[i].p, all[i].n, key, 64);
		size_t n = at ? (size_t)(at - all[i].p) : all[i].n;
		fh_buf_addf(&shown, "--\n%.*s%s", (int)n, all[i].p, at ? "K" : "");
		if (at)
			fh_buf_add(&shown, at + 64, all[i].n - n - 64);
	}
	return fh_buf_cstr(&shown);
}

#define TESTS "import \"testing\"\nfunc TestS(t *testing.T) { len(S{}.nil, math.Pi, max(1)) } // true\n"

static void program_and_test_of_one_process(void **state)
{
	static const char judge[] =
	    "\nfunc TestS(t *fhSplit.T) { len(S{}.nil, math.Pi, max(1)) } // true\n\n\nfunc init() {\n"
	    "\tfhSplit.Judge(\"K\", []fhSplit.Test{\n\t\t{\"TestS\", TestS},\n\t})\n}\n";
	static const char start[] = "import \"math\"\n\n", key[] = "--\npackage fhsplit\n\nconst key = \"K\"\n";
	struct fh_go_task task = { fh_str("import \"math\"\ntype S struct {\n"), fh_str(TESTS), { "", 0 } };
	fh_auto_buf struct fh_buf wanted = FH_BUF_INIT(0);
	fh_buf_addf(&wanted,
	            "--\npackage main\n\nimport len \"fhsplit\"\nimport max \"fhsplit\"\nvar _ len.T\nvar _ max.T\n--\n"
	            "package main\n\ntype S struct {\n}\n// o:embed x\n\n--\n%s%s%s\nfunc main() {}\n%s",
	            START, start, judge, key);
	assert_string_equal(whole_of(&task, "import \"math\"\ntype S struct {\n", "}\n//go:embed x\n"),
	                    fh_buf_cstr(&wanted));
	/* a main of the program's, and a name that the task gives another meaning */
	task.reference = fh_str("}\nfunc max(n int) int { return n }\n");
	fh_buf_truncate(&wanted, 0);
	fh_buf_addf(&wanted,
	            "--\npackage main\n\nimport len \"fhsplit\"\nvar _ len.T\n--\npackage main\nimport \"os\"\n\n"
	            "func main() { os.Exit(0) }\n\n--\n%s%s%s%s",
	            START, start, judge, key);
	assert_string_equal(whole_of(&task, "", "package main\nimport \"os\"\nfunc main() { os.Exit(0) }\n"),
	                    fh_buf_cstr(&wanted));
}

static void what_one_process_cannot_judge_either(void **state)
{
	static const struct {
		const char *test, *why;
	} rows[] = {
		{ "func TestF(t *testing.T) { testing.Init() }\n", "the test uses testing.Init, which is not there" },
		{ "func testF() {}\n", "the test has no Test functions" },
		{ "func TestMain(n int) {}\n", "the test has a TestMain: let a func init, or each test, do what it does" },
		{ "import \"github.com/stretchr/testify/mock\"\nfunc TestF(t *testing.T) {}\n",
		  "the test imports \"github.com/stretchr/testify/mock\"" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(rows); i++) {
		struct fh_go_task task = { fh_str("func F() {\n"), fh_str(rows[i].test), { "", 0 } };
		assert_string_equal(whole_of(&task, "func F() {\n", "}\n"), rows[i].why);
	}
}

/* Which no program can hold: it changes with each. */
static void the_key_is_of_the_program(void **state)
{
	struct fh_go_task task = { fh_str("func F() {\n"), fh_str("func TestF(t *testing.T) {}\n"), { "", 0 } };
	fh_auto_go_whole a = { .key = FH_BUF_INIT(0) }, b = { .key = FH_BUF_INIT(0) };
	assert_int_equal(fh_go_whole(&task, fh_str(""), fh_str("func F() {}"), &a, NULL), 0);
	assert_int_equal(fh_go_whole(&task, fh_str(""), fh_str("func F() { }"), &b, NULL), 0);
	assert_string_not_equal(fh_buf_cstr(&a.key), fh_buf_cstr(&b.key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signature),
		cmocka_unit_test(the_judge_has_imports_stand_in_and_tests),
		cmocka_unit_test(what_is_served),
		cmocka_unit_test(the_candidate_gets_what_it_uses),
		cmocka_unit_test(program_and_test_of_one_process),
		cmocka_unit_test(what_one_process_cannot_judge_either),
		cmocka_unit_test(the_key_is_of_the_program),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	fh_buf_release(&shown);
	return failed;
}
