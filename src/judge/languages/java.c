/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include "base/error.h"
#include "code/signature.h"
#include "judge/languages/java_units.h"
#include "judge/split/split.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_buf struct fh_buf class = FH_BUF_INIT(0), unused = FH_BUF_INIT(0);
	return fh_java_stand_in(p, &class, &unused, &why) < 0 ? why.message : NULL;
}

static void adjust(struct fh_plan *plan, bool judge)
{
	fh_java_start(plan, judge ? FH_JAVA_JUDGE : "SplitCandidate");
}

static struct fh_file codec_file(const struct fh_split *s)
{
	struct fh_str codec = fh_split_file(s, FH_JUDGE_JAVA, "SplitCodec.java");
	return (struct fh_file){ "SplitCodec.java", { codec.p, codec.n }, 0 };
}

/* Compiles a part of ours, which always compiles: once for all tasks. */
static int compile_own(struct fh_split *s, struct fh_client *client, const struct fh_compilation *build,
                       struct fh_artifact *ret, struct fh_error *err)
{
	int r = fh_builds_keep(fh_split_builds(s), client, build, ret, err);
	if (r >= 0 && ret->error)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "%s does not compile: %s", build->code_name, ret->error);
	return r;
}

int fh_java_junit(struct fh_split *s, struct fh_client *client, struct fh_artifact *ret, struct fh_error *err)
{
	static const char *const names[] = { "fumehood/JUnit.java", "fumehood/JUnitSources.java",
		                                 "fumehood/JUnitEquals.java", "fumehood/Jupiter.java",
		                                 "fumehood/JUnitFour.java" };
	struct fh_compilation build = { .language = "java",
		                            .code_name = "SplitJUnit.java",
		                            .code = fh_str("package fumehood; class SplitJUnit { JUnit all; }\n") };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++) {
		struct fh_str text = fh_split_file(s, FH_JUDGE_JAVA, strchr(names[i], '/') + 1);
		build.files[build.file_count++] = (struct fh_file){ names[i], { text.p, text.n }, 0 };
	}
	return compile_own(s, client, &build, ret, err);
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	static const char name[] = "SplitJudge.java";
	fh_auto_artifact struct fh_artifact judge = { 0 }, junit = { 0 };
	fh_auto_buf struct fh_buf stand_in = FH_BUF_INIT(0), test = FH_BUF_INIT(0), class = FH_BUF_INIT(0);
	int r = fh_java_stand_in(p->problem, &class, &stand_in, err);
	if (r < 0)
		return r;
	fh_buf_adds(&class, ".java");
	fh_java_imports_before(fh_buf_str(&p->problem->head), &test);
	fh_java_test(fh_buf_str(&p->problem->tail), &test);
	/* the driver's class refers to the other classes; the compiler finds them by their file names */
	struct fh_compilation build = { .language = "java",
		                            .code_name = name,
		                            .code = fh_split_file(s, FH_JUDGE_JAVA, name),
		                            .files = { codec_file(s),
		                                       { fh_buf_cstr(&class), { stand_in.p, stand_in.n }, 0 },
		                                       { "Main.java", { test.p, test.n }, 0 } },
		                            .file_count = 3 };
	if (fh_java_is_for_junit(fh_buf_str(&p->problem->tail))) {
		r = fh_java_junit(s, client, &junit, err);
		if (r < 0)
			return r;
		build.files[build.file_count++] = (struct fh_file){ FH_JAVA_COMPILED, { junit.data, junit.size }, 0 };
	}
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_buf_addc(&ret->input, fh_split_arguments(p));
	r = fh_builds_keep(fh_split_builds(s), client, &build, &judge, err);
	if (r >= 0 && judge.error)
		ret->unfit = FH_TAKE_PTR(judge.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_JAVA, true, &judge, ret, err);
	return r;
}

/* Compiles the driver of the candidate's side: that takes more than compiling most programs. */
static int compile_driver(struct fh_split *s, struct fh_client *client, struct fh_artifact *ret, struct fh_error *err)
{
	static const char name[] = "SplitCandidate.java";
	struct fh_compilation build = { .language = "java",
		                            .code_name = name,
		                            .code = fh_split_file(s, FH_JUDGE_JAVA, name),
		                            .files = { codec_file(s) },
		                            .file_count = 1 };
	return compile_own(s, client, &build, ret, err);
}

/* Appends the text with another class in the place of Solution. */
static void add_with_class(struct fh_buf *out, struct fh_str text, struct fh_str class)
{
	const size_t n = strlen(FH_JAVA_CLASS);
	for (const char *at; (at = memmem(text.p, text.n, FH_JAVA_CLASS, n)); text = fh_str_from(text, at + n - text.p)) {
		fh_buf_add_str(out, (struct fh_str){ text.p, at - text.p });
		fh_buf_add_str(out, class);
	}
	fh_buf_add_str(out, text);
}

static int compile_program(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p, bool imports,
                           const struct fh_artifact *driver, struct fh_artifact *ret, struct fh_error *err)
{
	static const char name[] = "SplitProgram.java";
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), source = FH_BUF_INIT(0), class = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0), asks = FH_BUF_INIT(0);
	int r = fh_java_stand_in(p->problem, &class, &unused, err);
	if (r < 0)
		return r;
	add_with_class(&asks, fh_split_file(s, FH_JUDGE_JAVA, name), fh_buf_str(&class));
	fh_buf_add_str(&text, p->head);
	if (p->head.n > 0)
		fh_buf_add_str(&text, p->completion);
	else
		fh_java_add_whole(p->completion, fh_buf_str(&class), &text);
	fh_buf_adds(&class, ".java");
	if (imports)
		fh_java_imports_before(fh_buf_str(&p->problem->head), &source);
	fh_java_program(fh_buf_str(&text), &source);
	struct fh_compilation build = { .language = "java",
		                            .code_name = name,
		                            .code = fh_buf_str(&asks),
		                            .files = { { fh_buf_cstr(&class), { source.p, source.n }, 0 },
		                                       { FH_JAVA_COMPILED, { driver->data, driver->size }, 0 } },
		                            .file_count = 2 };
	return fh_builds_run(fh_split_builds(s), client, &build, ret, err);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact driver = { 0 }, program = { 0 }, imported = { 0 };
	int r = compile_driver(s, client, &driver, err);
	if (r >= 0)
		r = compile_program(s, client, p, false, &driver, &program, err);
	/* a whole program may count on the declaration's imports, as a completion does */
	if (r >= 0 && p->head.n == 0 && program.error && strstr(program.error, "cannot find symbol"))
		r = compile_program(s, client, p, true, &driver, &imported, err);
	struct fh_artifact *last = imported.size > 0 && !imported.error ? &imported : &program;
	if (r >= 0 && last->error)
		ret->compile_error = FH_TAKE_PTR(last->error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_JAVA, false, last, ret, err);
	return r;
}

static const char *const shared[] = { "System.setOut(",  "System.setErr(",       "System.setIn(", "System.setProperty(",
	                                  "createTempFile(", "createTempDirectory(", "Files.write",   NULL };

static const struct fh_split_language split = {
	.judge = { "SplitCodec.java", "SplitJudge.java" },
	.candidate = { "SplitCandidate.java", "SplitProgram.java" },
	.others = { "JUnit.java", "JUnitSources.java", "JUnitEquals.java", "Jupiter.java", "JUnitFour.java" },
	.adjust = adjust,
	.spoilers = "abc",
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};

/* ------------------------------------------------------------------------------------------------- in one process */

#define VERSION                                                                                                        \
	"public class Main { public static void main(String[] a) {"                                                        \
	" System.out.println(System.getProperty(\"java.version\")); } }"

static const struct fh_judge_in_process in_process = {
	.driver = "Judge.java",
	.driver_file = "Judge.java",
	.beside = fh_java_beside_test,
	.probe = "class Solution { }",
	.probe_test = VERSION,
};

static const struct fh_judge_declared declared = { "class %s", "class " };

const struct fh_judge_language_info fh_judge_language_java = {
	.name = "java",
	.stub = { "        throw new RuntimeException();\n    }\n}\n",
	          "public class Main { public static void main(String[] a) { } }\n" },
	.version = VERSION,
	.pack_prefix = "Java/",
	.entry_point = fh_java_name,
	.class_of = fh_java_class_name,
	.test_file = fh_java_test_file,
	.declared = &declared,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
