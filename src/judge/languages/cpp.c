/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include "code/cpp_guard.h"
#include "code/signature.h"
#include "judge/languages/cpp_adapter.h"
#include "judge/languages/cpp_units.h"
#include "judge/split/split.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_signature struct fh_signature s = { 0 };
	return fh_cpp_signature(fh_judge_problem_declaration(p), &s, &why) < 0 ? why.message : NULL;
}

/* By a reference that is not const; where a name of a type hides the reference this is not seen. */
static bool changes(const struct fh_judge_problem *p)
{
	fh_auto_signature struct fh_signature s = { 0 };
	bool any = false;
	if (fh_cpp_signature(fh_judge_problem_declaration(p), &s, NULL) < 0)
		return false;
	for (size_t i = 0; i < s.parameter_count; i++) {
		struct fh_str type = s.parameters[i].type;
		any = any || (memchr(type.p, '&', type.n) && !memmem(type.p, type.n, "const", 5));
	}
	return any;
}

static int compile_glue(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                        struct fh_artifact *ret, struct fh_buf *test, struct fh_error *err)
{
	fh_auto_buf struct fh_buf glue = FH_BUF_INIT(0);
	const struct fh_cpp_texts texts = { fh_split_file(s, FH_JUDGE_CPP, "split_codec.hpp"),
		                                fh_split_file(s, FH_JUDGE_CPP, "split_sides.hpp"),
		                                fh_split_file(s, FH_JUDGE_CPP, "split_any.hpp"),
		                                fh_split_file(s, FH_JUDGE_CPP, "split_engines.hpp") };
	int r =
	    fh_cpp_units(&texts, fh_judge_problem_declaration(p->problem), fh_buf_str(&p->problem->tail), &glue, test, err);
	struct fh_compilation build = { .language = "cpp", .code = fh_buf_str(&glue), .flags = fh_cpp_glue_flags };
	return r < 0 ? r : fh_builds_keep(fh_split_builds(s), client, &build, ret, err);
}

static struct fh_compilation with_glue(struct fh_str code, const char *const *flags, const struct fh_artifact *glue)
{
	return (struct fh_compilation){ .language = "cpp",
		                            .code = code,
		                            .flags = flags,
		                            .linker = "gold",
		                            .files = { { FH_CPP_OBJECT, { glue->data, glue->size }, 0 } },
		                            .file_count = 1 };
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact glue = { 0 }, judge = { 0 };
	fh_auto_buf struct fh_buf test = FH_BUF_INIT(0);
	int r = compile_glue(s, client, p, &glue, &test, err);
	if (r >= 0 && !glue.error) {
		struct fh_compilation build = with_glue(fh_buf_str(&test), fh_cpp_judge_flags, &glue);
		r = fh_builds_keep(fh_split_builds(s), client, &build, &judge, err);
	}
	if (r >= 0 && (glue.error || judge.error))
		ret->unfit = FH_TAKE_PTR(*(glue.error ? &glue.error : &judge.error));
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_CPP, true, &judge, ret, err);
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_buf_addc(&ret->input, fh_split_arguments(p));
	return r;
}

static int compile_program(struct fh_split *s, struct fh_client *client, struct fh_str text,
                           const struct fh_artifact *glue, struct fh_artifact *ret, struct fh_error *err)
{
	struct fh_compilation build = with_glue(text, fh_cpp_candidate_flags, glue);
	int r = fh_builds_run(fh_split_builds(s), client, &build, ret, err);
	/* gold rejects some programs that ld accepts, such as one with a variable called errno. g++'s default linker
	 * decides. */
	if (r >= 0 && ret->error && strstr(ret->error, "ld.gold: error")) {
		fh_artifact_release(ret);
		build.linker = NULL;
		r = fh_builds_run(fh_split_builds(s), client, &build, ret, err);
	}
	return r;
}

/* Finds which arguments the test gives as variables. */
static int find_lvalues(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p, uint64_t *ret,
                        struct fh_error *err)
{
	struct fh_str declaration = fh_judge_problem_declaration(p->problem), test = fh_buf_str(&p->problem->tail);
	*ret = 0;
	for (size_t i = 0; i < 64; i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		fh_auto_artifact struct fh_artifact compiled = { 0 };
		if (!fh_cpp_lvalue_unit(declaration, test, i, &text))
			return 0;
		struct fh_compilation build = { .language = "cpp", .code = fh_buf_str(&text), .flags = fh_cpp_glue_flags };
		int r = fh_builds_keep(fh_split_builds(s), client, &build, &compiled, err);
		if (r < 0)
			return r;
		*ret |= (uint64_t)!compiled.error << i;
	}
	return 0;
}

/* Compiles the program, with an adapter where it needs one. Returns 1: its function cannot be called as declared.
 * headers: what stands before the program, on lines that are not counted. */
static int compile_adapted(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                           struct fh_str headers, uint64_t lvalues, const struct fh_artifact *glue,
                           struct fh_artifact *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_add_str(&text, headers);
	fh_buf_add(&text, p->head.p, p->head.n);
	fh_buf_add(&text, p->completion.p, p->completion.n);
	fh_buf_addc(&text, '\n');
	int adapted = fh_cpp_adapter(fh_split_file(s, FH_JUDGE_CPP, "split_adapter.hpp"),
	                             fh_judge_problem_declaration(p->problem), lvalues, fh_buf_str(&text), &text, err);
	int r = adapted < 0 ? adapted : compile_program(s, client, fh_buf_str(&text), glue, ret, err);
	return r < 0 ? r : adapted && ret->error && strstr(ret->error, FH_CPP_ADAPTER);
}

/* Compiles the program as what it is, or as what takes arguments that are variables by reference. Returns as
 * compile_adapted does. */
static int compile_called(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_str headers, const struct fh_artifact *glue, struct fh_artifact *ret,
                          struct fh_error *err)
{
	uint64_t lvalues = 0;
	int misfit = compile_adapted(s, client, p, headers, 0, glue, ret, err);
	int r = misfit > 0 ? find_lvalues(s, client, p, &lvalues, err) : misfit;
	if (r < 0 || lvalues == 0)
		return r < 0 ? r : misfit;
	fh_artifact_release(ret);
	return compile_adapted(s, client, p, headers, lvalues, glue, ret, err);
}

/* Whether a compile error may be about a name of the standard library that the program has no header for. */
static bool lacks_header(const char *error)
{
	static const char *const signs[] = { "was not declared",   "has not been declared", "does not name a",
		                                 "is not a member of", "is not a template",     "incomplete type",
		                                 "undeclared" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(signs); i++)
		if (strstr(error, signs[i]))
			return true;
	return false;
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact glue = { 0 }, program = { 0 }, with_headers = { 0 };
	fh_auto_buf struct fh_buf test = FH_BUF_INIT(0), headers = FH_BUF_INIT(0);
	struct fh_artifact *last = &program;
	struct fh_str none = { "", 0 };
	int r = compile_glue(s, client, p, &glue, &test, err);
	if (r >= 0)
		r = compile_called(s, client, p, none, &glue, &program, err);
	bool misfit = r > 0;
	if (r >= 0 && program.error && lacks_header(program.error)) {
		fh_cpp_add_headers(&headers, fh_judge_problem_declaration(p->problem));
		r = compile_called(s, client, p, fh_buf_str(&headers), &glue, &with_headers, err);
		/* its error tells more, but of a library without such a header */
		if (r >= 0 && !(with_headers.error && strstr(with_headers.error, FH_CPP_ALL_HEADERS))) {
			last = &with_headers;
			misfit = r > 0;
		}
	}
	if (r < 0)
		return r;
	if (misfit)
		ret->compile_error = fh_xasprintf(
		    "the program does not define the function so that it can be called as declared: %s", last->error);
	else if (last->error)
		ret->compile_error = FH_TAKE_PTR(last->error);
	else
		r = fh_split_program(s, FH_JUDGE_CPP, false, last, ret, err);
	return r;
}

static const char *const shared[] = { ".rdbuf(", "freopen(", "ofstream", "setenv(", "mkstemp(", "mkdtemp(", NULL };

static const struct fh_split_language split = {
	.judge = { "split_codec.hpp" },
	.others = { "split_sides.hpp", "split_any.hpp", "split_adapter.hpp", "split_engines.hpp" },
	.changes = changes,
	.spoilers = "ab",
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};

/* ------------------------------------------------------------------------------------------------- in one process */

/* Puts program and test into one text. The test gets its own file name for error messages: by a line that also ends
 * what the program may have said of its own, that it is a header of the system's, in which nothing is told. A main of
 * the candidate's is renamed, and its macros cannot rename the test's main. A test may count on the declaration's
 * headers, which a whole program need not include; the headers (and no namespace, whose names might be the program's)
 * stand before the program, too. */
static void whole(struct fh_buf *out, const struct fh_judge_parts *p)
{
	FH_CLEANUP(fh_cpp_guard_release) struct fh_cpp_guard guard = { 0 };
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0), task = FH_BUF_INIT(0);
	bool is_whole = p->head.n == 0;
	struct fh_str declaration = fh_judge_problem_declaration(p->problem), test = fh_buf_str(&p->problem->tail);
	struct fh_str reference = fh_buf_str(&p->problem->reference);
	if (is_whole) {
		fh_cpp_add_preamble(out, declaration, false);
		fh_cpp_add_preamble(out, reference, false);
	}
	fh_buf_add_str(&task, declaration);
	fh_buf_addc(&task, '\n');
	fh_buf_add_str(&task, reference);
	fh_buf_addc(&task, '\n');
	fh_buf_add_str(&task, test);
	fh_judge_add_program(&program, p);
	fh_cpp_guard(fh_buf_str(&program), fh_buf_str(&task), test, reference.n > 0, &guard);
	fh_buf_adds(out, "#define main fh_main_of_program\n#line 1 \"program.cpp\"\n");
	fh_buf_add_str(out, fh_buf_str(&guard.program));
	fh_buf_adds(out, "\n#undef main\n");
	fh_buf_add_str(out, fh_buf_str(&guard.behind));
	fh_buf_adds(out, "# 1 \"declaration.cpp\"\n");
	if (is_whole)
		fh_cpp_add_preamble(out, declaration, true);
	fh_buf_adds(out, FH_CPP_ASSERT "# 1 \"test.cpp\"\n");
	fh_buf_add_str(out, test);
	fh_buf_addc(out, '\n');
}

/* Warnings are on for what the guard marks. */
static const char *const flags[] = { "-Wl,--wrap=main", NULL };

static const struct fh_judge_in_process in_process = {
	.driver = "judge.cpp",
	.whole = whole,
	.compiled = true,
	.mark = "error: ",
	.flags = flags,
	.packages_flags = flags,
	.probe = "#include <stdio.h>\n#include <assert.h>",
	.probe_test = "int main(){ assert(1 + 1 == 2); printf(\"%s %ld\\n\", __VERSION__, (long)__cplusplus); }",
};

const struct fh_judge_language_info fh_judge_language_cpp = {
	.name = "cpp",
	.stub = { "    return {};\n}\n", "int main() { return 0; }\n" },
	.version = "#include <stdio.h>\nint main() { printf(\"%s %ld\\n\", __VERSION__, (long)__cplusplus); }",
	.pack_prefix = "CPP/",
	.entry_point = fh_cpp_name,
	.declaration_of = fh_cpp_declaration_of,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
