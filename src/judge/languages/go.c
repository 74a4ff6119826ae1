/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include "code/signature.h"
#include "judge/languages/go_units.h"
#include "judge/split/split.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0);
	return fh_go_judge(fh_judge_problem_declaration(p), fh_buf_str(&p->tail), &unused, &why) < 0 ? why.message : NULL;
}

static struct fh_file file_of(const char *name, struct fh_str text)
{
	return (struct fh_file){ name, { text.p, text.n }, 0 };
}

static struct fh_file driver_file(const struct fh_split *s, const char *name, const char *data)
{
	return file_of(name, fh_split_file(s, FH_JUDGE_GO, data));
}

/* Our package fhsplit, as it is on one side. */
struct package {
	struct {
		const char *path, *driver; /* a source's name in the compilation, and in guest/go */
	} files[6];
};

static const struct package judge_package = { {
	{ "src/fhsplit/codec.go", "split_codec.go" },
	{ "src/fhsplit/types.go", "split_types.go" },
	{ "src/fhsplit/judge.go", "split_judge.go" },
	{ "src/fhsplit/testing.go", "split_testing.go" },
	{ "src/fhsplit/assert.go", "split_assert.go" },
	{ "src/fhsplit/assertions.go", "split_assertions.go" },
} };

static const struct package candidate_package = { {
	{ "src/fhsplit/codec.go", "split_codec.go" },
	{ "src/fhsplit/types.go", "split_types.go" },
	{ "src/fhsplit/candidate.go", "split_candidate.go" },
} };

static void add_sources(const struct fh_split *s, const struct package *p, struct fh_compilation *build)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(p->files) && p->files[i].path; i++)
		build->files[build->file_count++] = driver_file(s, p->files[i].path, p->files[i].driver);
}

/* Adds the package's sources and, where the toolchain is prepared (languages/go/compile.sh), the package compiled,
 * which is made once for all tasks and is half of the work. The sources remain for a program that imports a package
 * which is not prepared. `build` borrows the archive. */
static int add_package(struct fh_split *s, struct fh_client *client, const struct package *p,
                       struct fh_compilation *build, struct fh_artifact *archive, struct fh_error *err)
{
	struct fh_compilation alone = { .language = "go", .code = fh_str("package fhsplit\n"), .mark = "error" };
	add_sources(s, p, &alone);
	int r = fh_builds_keep(fh_split_builds(s), client, &alone, archive, err);
	if (r < 0)
		return r;
	add_sources(s, p, build);
	if (!archive->error)
		build->files[build->file_count++] = (struct fh_file){ "src/fhsplit.a", { archive->data, archive->size }, 0 };
	return 0;
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact judge = { 0 }, archive = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	int r = fh_go_judge(fh_judge_problem_declaration(p->problem), fh_buf_str(&p->problem->tail), &text, err);
	if (r < 0)
		return r;
	struct fh_compilation build = { .language = "go", .code = fh_buf_str(&text), .mark = ".go:" };
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_buf_addc(&ret->input, fh_split_arguments(p));
	r = add_package(s, client, &judge_package, &build, &archive, err);
	if (r >= 0)
		r = fh_builds_keep(fh_split_builds(s), client, &build, &judge, err);
	if (r >= 0 && judge.error)
		ret->unfit = FH_TAKE_PTR(judge.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_GO, true, &judge, ret, err);
	return r;
}

/* The file with our init is compiled last, so it runs after the program's own initialisation. */
static int compile_program(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                           bool lacks_imports, struct fh_artifact *ret, struct fh_error *err)
{
	static const char *const files[] = { "solution.go", NULL };
	fh_auto_artifact struct fh_artifact archive = { 0 };
	fh_auto_buf struct fh_buf solution = FH_BUF_INIT(0), text = FH_BUF_INIT(0);
	int r = fh_go_candidate(fh_judge_problem_declaration(p->problem), fh_buf_str(&p->problem->tail), p->head,
	                        p->completion, lacks_imports, &solution, &text, err);
	if (r < 0)
		return r;
	struct fh_compilation build = { .language = "go",
		                            .code = fh_buf_str(&text),
		                            .flags = files,
		                            .files = { file_of(files[0], fh_buf_str(&solution)) },
		                            .file_count = 1,
		                            .mark = ".go:" };
	r = add_package(s, client, &candidate_package, &build, &archive, err);
	return r < 0 ? r : fh_builds_run(fh_split_builds(s), client, &build, ret, err);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact program = { 0 }, imported = { 0 };
	int r = compile_program(s, client, p, false, &program, err);
	if (r >= 0 && program.error && strstr(program.error, "undefined: "))
		r = compile_program(s, client, p, true, &imported, err);
	struct fh_artifact *last = imported.size > 0 && !imported.error ? &imported : &program;
	if (r >= 0 && last->error)
		ret->compile_error = FH_TAKE_PTR(last->error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_GO, false, last, ret, err);
	return r;
}

static const char *const shared[] = { "os.Stdout =", "os.Stderr =", "os.Stdin =",     "os.Pipe(",
	                                  "os.Args =",   ".TempDir(",   ".MkdirTemp(",    ".CreateTemp(",
	                                  ".WriteFile(", ".Setenv(",    "log.SetOutput(", NULL };

static const struct fh_split_language split = {
	.judge = { "split_judge.go", "split_testing.go", "split_assert.go", "split_assertions.go" },
	.candidate = { "split_codec.go", "split_types.go", "split_candidate.go" },
	.spoilers = "abc",
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};

/* ------------------------------------------------------------------------------------------------- in one process */

/* The order of the files is that in which their init functions run before main: the test's file, main.go, is last. */
static const char *const flags[] = { "names.go", "solution.go", NULL };

static int unit(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
                struct fh_error *err)
{
	const struct fh_go_task task = { .declaration = fh_buf_str(&p->problem->head),
		                             .test = fh_buf_str(&p->problem->tail),
		                             .reference = fh_buf_str(&p->problem->reference) };
	fh_auto_go_whole w = { .key = FH_BUF_INIT(0) };
	int r = fh_go_whole(&task, p->head, p->completion, &w, err);
	if (r < 0)
		return r;
	fh_buf_add_str(&u->code, fh_buf_str(&w.main));
	fh_judge_unit_add_file(u, flags[0], fh_buf_str(&w.names));
	fh_judge_unit_add_file(u, flags[1], fh_buf_str(&w.solution));
	fh_judge_unit_add_file(u, "src/fhsplit/judge.go", fh_buf_str(&d->driver));
	fh_judge_unit_add_file(u, "src/fhsplit/testing.go", fh_buf_str(&d->libraries[0]));
	fh_judge_unit_add_file(u, "src/fhsplit/assert.go", fh_buf_str(&d->libraries[1]));
	fh_judge_unit_add_file(u, "src/fhsplit/assertions.go", fh_buf_str(&d->libraries[2]));
	fh_judge_unit_add_file(u, "src/fhsplit/key.go", fh_buf_str(&w.key));
	return 0;
}

static const struct fh_judge_in_process in_process = {
	.driver = "judge.go",
	.libraries = { "split_testing.go", "split_assert.go", "split_assertions.go" },
	.unit = unit,
	.mark = ".go:",
	.flags = flags,
	.packages_flags = flags,
	.probe =
	    "package main\nimport (\"os\"; \"runtime\")\nfunc version() { os.Stdout.WriteString(runtime.Version()) }\n",
	.probe_test = "func TestVersion(t *testing.T) { version() }\n",
};

static const struct fh_judge_declared declared = { "func %s(", "package " };

const struct fh_judge_language_info fh_judge_language_go = {
	.name = "go",
	.stub = { "\tpanic(\"no answer\")\n}\n", "package main\n\nfunc main() { }\n" },
	.version = "package main\nimport (\"os\"; \"runtime\")\nfunc main() { os.Stdout.WriteString(runtime.Version()) }",
	.pack_prefix = "Go/",
	.entry_point = fh_go_name,
	.declaration_of = fh_go_declaration_of,
	.test_file = fh_go_test_file,
	.declared = &declared,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
