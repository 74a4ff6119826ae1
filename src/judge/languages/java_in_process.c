/* SPDX-License-Identifier: MIT */
#include "code/declaration.h"
#include "code/outline.h"
#include "judge/languages/java_units.h"
#include "judge/split/build.h"

#define TEST_FILE "Main.java"
#define PROGRAM_FILE FH_JAVA_CLASS ".java"

/* A class of the program with the name of a library class would replace that class in the test: within a package, it
 * takes precedence over java.lang and `import java.util.*`, but not over a class imported by its name. */
static const struct {
	const char *package, *types;
} library[] = {
	{ "java.lang", "ArithmeticException ArrayIndexOutOfBoundsException AssertionError Boolean Byte Character Class "
	               "ClassCastException Comparable Double Enum Error Exception Float IllegalArgumentException "
	               "IllegalStateException IndexOutOfBoundsException Integer Iterable Long Math NullPointerException "
	               "Number NumberFormatException Object Runnable RuntimeException Short StrictMath String StringBuffer "
	               "StringBuilder System Thread Throwable UnsupportedOperationException" },
	{ "java.util",
	  "AbstractMap ArrayDeque ArrayList Arrays BitSet Collection Collections Comparator Deque HashMap "
	  "HashSet Hashtable Iterator LinkedHashMap LinkedHashSet LinkedList List Map NavigableMap "
	  "NoSuchElementException Objects Optional OptionalDouble OptionalInt OptionalLong PriorityQueue Queue "
	  "Random Set SortedMap SortedSet Stack TreeMap TreeSet UUID Vector" },
	{ "java.util.function", "BiConsumer BiFunction BiPredicate BinaryOperator BooleanSupplier Consumer Function "
	                        "IntFunction IntPredicate IntSupplier IntUnaryOperator Predicate Supplier ToIntFunction "
	                        "UnaryOperator" },
	{ "java.util.stream", "Collectors DoubleStream IntStream LongStream Stream StreamSupport" },
	{ "java.math", "BigDecimal BigInteger MathContext RoundingMode" },
};

/* Whether the imports include a type by its name or, with "*", a whole package. */
static bool imports(const struct fh_buf *lines, const char *package, struct fh_str type)
{
	fh_auto_free char *wanted = fh_xasprintf("%s.%.*s;", package, FH_STR_ARGS(type));
	return lines->n > 0 && memmem(lines->p, lines->n, wanted, strlen(wanted)) != NULL;
}

/* Whether the name means a type of the task: its reference or its test defines it. */
static bool is_the_tasks(const struct fh_judge_problem *problem, struct fh_str reference, struct fh_str name)
{
	return fh_java_defines(reference, name) || fh_java_defines(fh_buf_str(&problem->tail), name);
}

static void add_program(struct fh_buf *out, const struct fh_judge_parts *p)
{
	struct fh_str class = fh_java_class_name(fh_buf_str(&p->problem->head));
	fh_buf_add_str(out, p->head);
	if (p->head.n == 0 && class.n > 0)
		fh_java_add_whole(p->completion, class, out);
	else
		fh_buf_add_str(out, p->completion);
}

/* Imports by name the library classes that the test uses. */
static void pin_library(struct fh_buf *out, const struct fh_judge_problem *problem)
{
	fh_auto_buf struct fh_buf lines = FH_BUF_INIT(0), reference = FH_BUF_INIT(0);
	struct fh_judge_sample sample = fh_judge_problem_reference(problem);
	struct fh_judge_parts parts = fh_judge_parts_of(problem, &sample);
	add_program(&reference, &parts);
	fh_java_imports(fh_buf_str(&problem->head), &lines);
	fh_java_imports(fh_buf_str(&problem->tail), &lines);
	for (size_t i = 0; i < FH_ARRAY_SIZE(library); i++) {
		struct fh_str name, rest = fh_str(library[i].types);
		if (i > 0 && !imports(&lines, library[i].package, fh_str("*")))
			continue;
		for (; (name = fh_identifier(rest)).n > 0; rest = fh_str(*rest.p ? rest.p + 1 : rest.p)) {
			rest.p += name.n;
			if (fh_mentions(fh_buf_str(&problem->tail), name, NULL) && !imports(&lines, "", name) &&
			    !is_the_tasks(problem, fh_buf_str(&reference), name))
				fh_buf_addf(out, "import %s.%.*s;\n", library[i].package, FH_STR_ARGS(name));
		}
	}
}

static void add_source(struct fh_plan *plan, const char *name, const struct fh_buf *text)
{
	fh_plan_add_file(plan->compile, name, text->p, text->n, 0);
}

/* The compiler finds a type by itself only in a file with the type's name, so all files are listed for it. */
static void compile_all(struct fh_plan *plan)
{
	static const char list[] = "@sources";
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(0);
	fh_buf_addf(&names, "%s\n%s\n%s\n", plan->code_name, TEST_FILE, PROGRAM_FILE);
	add_source(plan, list + 1, &names);
	for (char **word = plan->compile->argv; *word; word++)
		if (fh_streq(*word, plan->code_name))
			fh_plan_set_text(word, list);
}

/* Java cannot move a descriptor, and opening one by a path below /proc may need missing rights. So a shell moves stdin,
 * which has the secret, away from the program, and duplicates stdout. */
static void start_behind_shell(struct fh_plan *plan)
{
	static const char *const shell[] = { "/bin/sh", "-c", "exec 8<&0 9>&1 </dev/null && exec \"$@\"", "java", NULL };
	char **argv = plan->argv;
	plan->argv = fh_xcalloc(1, sizeof(char *));
	for (size_t i = 0; shell[i]; i++)
		fh_plan_add_string(&plan->argv, shell[i]);
	for (size_t i = 0; argv[i]; i++) {
		fh_plan_add_string(&plan->argv, argv[i]);
		free(argv[i]);
	}
	free(argv);
}

int fh_java_beside_test(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
                        struct fh_plan *plan, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact junit = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), program = FH_BUF_INIT(0), test = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf own = FH_BUF_INIT(0);
	add_program(&text, p);
	fh_java_imports(fh_buf_str(&text), &own);
	if (own.n == 0) /* it counts on the declaration's, as a completion does */
		fh_java_imports_before(fh_buf_str(&p->problem->head), &program);
	fh_java_program_beside_main(fh_buf_str(&text), &program);
	fh_java_imports(fh_buf_str(&p->problem->head), &test);
	pin_library(&test, p->problem);
	for (size_t i = 0; i < test.n; i++)
		test.p[i] = test.p[i] == '\n' ? ' ' : test.p[i]; /* the test's lines keep their numbers */
	fh_buf_add(&test, p->problem->tail.p, p->problem->tail.n);
	add_source(plan, PROGRAM_FILE, &program);
	add_source(plan, TEST_FILE, &test);
	if (fh_java_is_for_junit(fh_buf_str(&p->problem->tail))) {
		int r = fh_java_junit(s, client, &junit, err);
		if (r < 0)
			return r;
		fh_plan_add_file(plan->compile, FH_JAVA_COMPILED, junit.data, junit.size, 0);
	}
	compile_all(plan);
	fh_java_start(plan, "fumehood.Judge");
	start_behind_shell(plan);
	return 0;
}
