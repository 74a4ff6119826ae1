/* SPDX-License-Identifier: MIT */
#include "judge/go_units.h"

#include "code/signature.h"
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

enum { JUDGE_DRIVER, JUDGE_ASSERT }; /* in the lists of drivers below */
enum { CANDIDATE_CODEC, CANDIDATE_DRIVER };

static struct fh_file driver_file(const struct fh_split *s, const char *name, bool judge, size_t index)
{
	return file_of(name, fh_split_driver_file(s, FH_JUDGE_GO, judge, index));
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact judge = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str unused;
	int r = fh_split_drivers(s, FH_JUDGE_GO, &unused, &unused, err);
	if (r >= 0)
		r = fh_go_judge(fh_buf_str(&p->problem->head), fh_buf_str(&p->problem->tail), &text, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "go",
		                      .code = fh_buf_str(&text),
		                      .files = { driver_file(s, "src/fhsplit/codec.go", false, CANDIDATE_CODEC),
		                                 driver_file(s, "src/fhsplit/judge.go", true, JUDGE_DRIVER),
		                                 driver_file(s, "src/fhsplit/assert.go", true, JUDGE_ASSERT) },
		                      .file_count = 3,
		                      .mark = ".go:" };
	fh_buf_add_str(&ret->input, fh_split_seed(p));
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
	struct fh_str unused;
	int r = fh_split_drivers(s, FH_JUDGE_GO, &unused, &unused, err);
	if (r >= 0)
		r = fh_go_candidate(fh_buf_str(&p->problem->head), fh_buf_str(&p->problem->tail), p->head, p->completion,
		                    &solution, &text, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "go",
		                      .code = fh_buf_str(&text),
		                      .flags = flags,
		                      .files = { file_of(flags[0], fh_buf_str(&solution)),
		                                 driver_file(s, "src/fhsplit/codec.go", false, CANDIDATE_CODEC),
		                                 driver_file(s, "src/fhsplit/candidate.go", false, CANDIDATE_DRIVER) },
		                      .file_count = 3,
		                      .mark = ".go:" };
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
