/* SPDX-License-Identifier: MIT */
#include "judge/go_units.h"

#include "judge/signature.h"
#include "judge/split.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0);
	return fh_go_judge(fh_buf_str(&p->head), fh_buf_str(&p->tail), &unused, &why) < 0 ? why.message : NULL;
}

static struct fh_file file_of(const char *name, struct fh_str text)
{
	return (struct fh_file){ name, { text.p, text.n }, 0 };
}

/* The drivers of a side are two files in one text, told apart by the second licence line. */
static void add_drivers(struct fh_build *build, const char *first, const char *second, struct fh_str text)
{
	const char *mark = memmem(text.p + 1, text.n - 1, "// SPDX-", strlen("// SPDX-"));
	size_t n = mark ? (size_t)(mark - text.p) : text.n;
	build->files[build->file_count++] = file_of(first, (struct fh_str){ text.p, n });
	build->files[build->file_count++] = file_of(second, (struct fh_str){ text.p + n, text.n - n });
}

/* The first file of the candidate's drivers is the codec, which the judge has as well. */
static struct fh_str codec_of(struct fh_str candidate)
{
	struct fh_build parts = { .file_count = 0 };
	add_drivers(&parts, "", "", candidate);
	return (struct fh_str){ parts.files[0].content.data, parts.files[0].content.size };
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact judge = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str ours, theirs;
	int r = fh_split_drivers(s, FH_JUDGE_GO, &ours, &theirs, err);
	if (r >= 0)
		r = fh_go_judge(fh_buf_str(&p->problem->head), fh_buf_str(&p->problem->tail), &text, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "go",
		                      .code = fh_buf_str(&text),
		                      .files = { file_of("src/fhsplit/codec.go", codec_of(theirs)) },
		                      .file_count = 1,
		                      .mark = ".go:" };
	add_drivers(&build, "src/fhsplit/judge.go", "src/fhsplit/assert.go", ours);
	fh_buf_addc(&ret->input, p->changes ? '1' : '0');
	r = fh_build_keep(fh_split_builds(s), client, &build, &judge, err);
	if (r >= 0 && judge.error)
		ret->unfit = FH_TAKE_PTR(judge.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_GO, true, &judge, ret, err);
	return r;
}

/* The file with our init is the last that the compiler gets: what the program initialises itself is done by then. */
static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	static const char *const flags[] = { "solution.go", NULL };
	fh_auto_artifact struct fh_artifact program = { 0 };
	fh_auto_buf struct fh_buf solution = FH_BUF_INIT(0), text = FH_BUF_INIT(0);
	struct fh_str unused, drivers;
	int r = fh_split_drivers(s, FH_JUDGE_GO, &unused, &drivers, err);
	if (r >= 0)
		r = fh_go_candidate(fh_buf_str(&p->problem->head), p->head, p->completion, &solution, &text, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "go",
		                      .code = fh_buf_str(&text),
		                      .flags = flags,
		                      .files = { file_of(flags[0], fh_buf_str(&solution)) },
		                      .file_count = 1,
		                      .mark = ".go:" };
	add_drivers(&build, "src/fhsplit/codec.go", "src/fhsplit/candidate.go", drivers);
	r = fh_build_run(fh_split_builds(s), client, &build, &program, err);
	if (r >= 0 && program.error)
		ret->compile_error = FH_TAKE_PTR(program.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_GO, false, &program, ret, err);
	return r;
}

const struct fh_split_language fh_split_go = {
	.language = FH_JUDGE_GO,
	.name = "go",
	.judge = { "guest/split_judge.go", "guest/split_assert.go" },
	.candidate = { "guest/split_codec.go", "guest/split_candidate.go" },
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};
