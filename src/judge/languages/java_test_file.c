/* SPDX-License-Identifier: MIT */
/*
 * Test files for JUnit 5 and 4. There is no JUnit on the host: guest/java/J*.java have the names that tests use, as
 * members of the classes Jupiter and JUnitFour of package fumehood. So imports are rewritten:
 *
 *     import org.junit.jupiter.api.Test;                  import fumehood.Jupiter.Test;
 *     import static org.junit.Assert.*;                   import static fumehood.JUnitFour.Assert.*;
 *     import org.junit.jupiter.api.*;                     one import as above for each name that the test uses
 *
 * A name that is imported means ours, whatever a program defines beside the test. A class Main is added that runs the
 * classes of the test. Lines keep their numbers.
 */
#include "judge/languages/java_units.h"

#include "base/error.h"
#include "code/declaration.h"
#include "code/outline.h"
#include "code/signature.h"

static const struct package {
	const char *path, *holder, *names;
} packages[] = {
	{ "org.junit.jupiter.api", "Jupiter",
	  "Test BeforeEach AfterEach BeforeAll AfterAll Nested Disabled DisplayName Tag Tags RepeatedTest Timeout Order "
	  "TestMethodOrder MethodOrderer DisplayNameGeneration DisplayNameGenerator TestInstance TestInfo RepetitionInfo "
	  "Assertions" },
	{ "org.junit.jupiter.api.function", "Jupiter", "Executable ThrowingSupplier" },
	{ "org.junit.jupiter.params", "Jupiter", "ParameterizedTest" },
	{ "org.junit.jupiter.params.provider", "Jupiter",
	  "ValueSource CsvSource MethodSource EnumSource NullSource EmptySource NullAndEmptySource Arguments" },
	{ "org.junit", "JUnitFour", "Test Before After BeforeClass AfterClass Ignore Assert FixMethodOrder" },
	{ "org.junit.function", "JUnitFour", "ThrowingRunnable" },
	{ "org.junit.runner", "JUnitFour", "RunWith" },
	{ "org.junit.runners", "JUnitFour", "MethodSorters BlockJUnit4ClassRunner JUnit4" },
};

/* Libraries that tests import beside JUnit, which are not there. Other imports are of the program's own packages. */
static const char *const absent[] = { "org.junit.",  "org.hamcrest.",  "org.mockito.",    "org.assertj.",
	                                  "org.testng.", "org.apache.",    "org.opentest4j.", "junit.",
	                                  "com.google.", "com.fasterxml.", "net.jqwik." };
static const char *const present[] = { "java.", "javax.", "jdk." };

struct test {
	struct fh_str text, blank;
	struct fh_buf *out, imports; /* imports: those that names written in full become */
};

static int not_there(struct fh_error *err, struct fh_str path)
{
	fh_error_set(err, FH_E_CONFIG, "tests use %.*s, which is not there", (int)FH_MIN(path.n, 100), path.p);
	fh_error_hint(
	    err, "there are JUnit 5's and 4's annotations, assertions and parameterized tests (docs/code-check.md) and "
	         "what the JDK has; or write a class Main whose method main throws where a result is wrong");
	return -FH_E_CONFIG;
}

static bool begins_with_one(struct fh_str path, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fh_str_begins(path, list[i]))
			return true;
	return false;
}

static bool is_listed(const char *names, struct fh_str name)
{
	struct fh_str rest = fh_str(names), word;
	for (; (word = fh_identifier(rest)).n > 0; rest = fh_str_from(rest, FH_MIN(word.n + 1, rest.n)))
		if (fh_str_same(word, name))
			return true;
	return false;
}

/* The package of a name that we have; *ret_name: the rest of the path, from the name on. */
static const struct package *package_of(struct fh_str path, struct fh_str *ret_name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(packages); i++) {
		size_t n = strlen(packages[i].path);
		if (path.n <= n + 1 || !fh_str_begins(path, packages[i].path) || path.p[n] != '.')
			continue;
		*ret_name = fh_str_from(path, n + 1);
		if (is_listed(packages[i].names, fh_identifier(*ret_name)))
			return &packages[i];
	}
	return NULL;
}

static void add_path(struct fh_buf *out, const struct package *p, struct fh_str name)
{
	fh_buf_addf(out, "fumehood.%s.%.*s", p->holder, FH_STR_ARGS(name));
}

/* Adds imports of all names of a package that the test uses and does not define. False: there is no such package. */
static bool add_whole_package(struct test *t, struct fh_str path)
{
	bool found = false;
	for (size_t i = 0; i < FH_ARRAY_SIZE(packages); i++) {
		struct fh_str rest = fh_str(packages[i].names), name;
		if (!fh_str_eq(path, packages[i].path))
			continue;
		found = true;
		for (; (name = fh_identifier(rest)).n > 0; rest = fh_str_from(rest, FH_MIN(name.n + 1, rest.n))) {
			if (!fh_mentions(t->blank, name, NULL) || fh_java_defines(t->text, name))
				continue;
			fh_buf_adds(t->out, "import ");
			add_path(t->out, &packages[i], name);
			fh_buf_adds(t->out, "; ");
		}
	}
	return found;
}

/* An import of the program's own classes, which are in the test's package here; or one of what is not there. */
static int leave_out(bool is_static, struct fh_str path, struct fh_error *err)
{
	if (begins_with_one(path, absent, FH_ARRAY_SIZE(absent)))
		return not_there(err, path);
	if (!is_static)
		return 0;
	fh_error_set(err, FH_E_CONFIG, "tests import static %.*s: from a class without a package that cannot be",
	             (int)FH_MIN(path.n, 100), path.p);
	fh_error_hint(err, "write the class's name before the method's where it is called");
	return -FH_E_CONFIG;
}

/* An import, without its `;`. */
static int add_import(struct test *t, struct fh_str statement, struct fh_error *err)
{
	fh_auto_buf struct fh_buf joined = FH_BUF_INIT(0);
	for (size_t i = strlen("import"); i < statement.n; i++)
		if (!fh_signature_space(statement.p[i]) || (joined.n > 0 && fh_str_eq(fh_buf_str(&joined), "static")))
			fh_buf_addc(&joined, statement.p[i]);
	struct fh_str path = fh_buf_str(&joined), name;
	bool is_static = fh_str_begins(path, "static ") || fh_str_begins(path, "static\t");
	if (is_static)
		path = fh_str_from(path, strlen("static "));
	const struct package *p = package_of(path, &name);
	if (p) {
		fh_buf_adds(t->out, is_static ? "import static " : "import ");
		add_path(t->out, p, name);
		fh_buf_addc(t->out, ';');
		return 0;
	}
	if (begins_with_one(path, present, FH_ARRAY_SIZE(present))) {
		fh_buf_add_str(t->out, statement);
		fh_buf_addc(t->out, ';');
		return 0;
	}
	if (!is_static && path.n > 2 && memcmp(path.p + path.n - 2, ".*", 2) == 0 &&
	    add_whole_package(t, (struct fh_str){ path.p, path.n - 2 }))
		return 0;
	return leave_out(is_static, path, err);
}

/* The dotted path that begins at p. */
static struct fh_str path_at(struct fh_str s)
{
	size_t n = 0;
	for (struct fh_str word; n < s.n && (word = fh_identifier(fh_str_from(s, n))).n > 0;) {
		n += word.n;
		if (n + 1 >= s.n || s.p[n] != '.' || fh_identifier(fh_str_from(s, n + 1)).n == 0)
			break;
		n++;
	}
	return (struct fh_str){ s.p, n };
}

/* A name that is written in full where it is used becomes the plain name, and an import: a program may not define a
 * class `fumehood` in its way. */
static int add_name(struct test *t, struct fh_str path, struct fh_error *err)
{
	struct fh_str name;
	const struct package *p = package_of(path, &name);
	if (!p)
		return not_there(err, path);
	fh_buf_adds(&t->imports, "import ");
	add_path(&t->imports, p, fh_identifier(name));
	fh_buf_adds(&t->imports, "; ");
	fh_buf_add_str(t->out, name);
	return 0;
}

static int rewrite(struct test *t, struct fh_error *err)
{
	long depth = 0;
	bool inside = false; /* a word, or behind a point */
	for (size_t i = 0; i < t->text.n; i++) {
		struct fh_str here = fh_str_from(t->blank, i), word = fh_identifier(here);
		int r = 0;
		if (word.n == 0 || inside) {
			depth += (*here.p == '{') - (*here.p == '}');
			inside = *here.p == '.' || word.n > 0;
			fh_buf_addc(t->out, t->text.p[i]);
			continue;
		}
		const char *end = depth == 0 && fh_str_eq(word, "import") ? memchr(here.p, ';', here.n) : NULL;
		struct fh_str path = path_at(here);
		if (end) {
			r = add_import(t, (struct fh_str){ here.p, end - here.p }, err);
			i += end - here.p;
		} else if (fh_str_begins(path, "org.junit.")) {
			r = add_name(t, path, err);
			i += path.n - 1;
		} else {
			fh_buf_add_str(t->out, (struct fh_str){ t->text.p + i, word.n });
			i += word.n - 1;
		}
		inside = false;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Appends the names of the classes at the top level, as arguments. */
static size_t add_classes(struct fh_buf *out, struct fh_str blank)
{
	size_t count = 0;
	long depth = 0;
	bool is_class = false;
	for (size_t i = 0; i < blank.n;) {
		struct fh_str word = fh_identifier(fh_str_from(blank, i));
		if (word.n == 0) {
			depth += (blank.p[i] == '{') - (blank.p[i] == '}');
			i++;
			continue;
		}
		if (is_class && depth == 0)
			fh_buf_addf(out, "%s\"%.*s\"", count++ ? ", " : "", FH_STR_ARGS(word));
		is_class = fh_str_eq(word, "class") && (i == 0 || blank.p[i - 1] != '.');
		i += word.n;
	}
	return count;
}

/* Whether the text has an annotation of one of the kinds of tests. */
static bool has_tests(struct fh_str blank)
{
	static const char *const kinds[] = { "Test", "ParameterizedTest", "RepeatedTest" };
	for (size_t i = 0; i < blank.n; i++) {
		if (blank.p[i] != '@')
			continue;
		struct fh_str path = path_at(fh_str_from(blank, i + 1));
		const char *point = memrchr(path.p, '.', path.n);
		struct fh_str name = point ? fh_str_from(path, point + 1 - path.p) : path;
		for (size_t k = 0; k < FH_ARRAY_SIZE(kinds); k++)
			if (fh_str_eq(name, kinds[k]))
				return true;
	}
	return false;
}

static bool is_for_junit(struct fh_str blank)
{
	return memmem(blank.p, blank.n, "org.junit", strlen("org.junit")) ||
	       memmem(blank.p, blank.n, "junit.framework", strlen("junit.framework"));
}

int fh_java_test_file(struct fh_buf *test, struct fh_error *err)
{
	fh_auto_buf struct fh_buf blank = FH_BUF_INIT(0), body = FH_BUF_INIT(0), names = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf plain = FH_BUF_INIT(0);
	fh_java_program(fh_buf_str(test), &plain);
	fh_signature_blank(&blank, fh_buf_str(&plain));
	if (!is_for_junit(fh_buf_str(&blank)))
		return fh_java_defines(fh_buf_str(&plain), fh_str("Main"))
		           ? 0
		           : fh_judge_wrong(err,
		                            "write one whose main throws where a result is wrong, or a test class for JUnit "
		                            "with its imports",
		                            "tests of java define no class Main");
	struct test t = { fh_buf_str(&plain), fh_buf_str(&blank), &body, FH_BUF_INIT(0) };
	int r = rewrite(&t, err);
	if (r >= 0 && !has_tests(t.blank))
		r = fh_judge_wrong(err, "write methods with @Test, or a class Main whose main throws where a result is wrong",
		                   "tests import JUnit and define no test");
	if (r >= 0 && fh_java_defines(t.text, fh_str("Main")))
		r = fh_judge_wrong(err, "give it another name", "a class of JUnit's tests may not be called Main");
	if (r >= 0) {
		add_classes(&names, t.blank);
		fh_buf_truncate(test, 0);
		fh_buf_adds(test, "import fumehood.JUnit; ");
		fh_buf_add_str(test, fh_buf_str(&t.imports));
		fh_buf_add_str(test, fh_buf_str(&body));
		fh_buf_addf(test,
		            "\nfinal class Main {\n\tpublic static void main(String[] none) throws Throwable "
		            "{\n\t\tJUnit.run(%s);\n\t}\n}\n",
		            fh_buf_cstr(&names));
	}
	fh_buf_release(&t.imports);
	return r;
}

bool fh_java_is_for_junit(struct fh_str test)
{
	return fh_str_begins(test, "import fumehood.JUnit;");
}
