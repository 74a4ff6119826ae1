/* SPDX-License-Identifier: MIT */
#include "judge/rust_units.h"

#include "base/error.h"
#include "judge/signature.h"
#include "judge/split.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	static _Thread_local struct fh_error why;
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0);
	return fh_rust_judge(fh_buf_str(&p->head), fh_buf_str(&p->tail), &unused, &why) < 0 ? why.message : NULL;
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact judge = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	struct fh_str codec, unused;
	int r = fh_split_drivers(s, FH_JUDGE_RUST, &codec, &unused, err);
	if (r >= 0)
		r = fh_rust_judge(fh_buf_str(&p->problem->head), fh_buf_str(&p->problem->tail), &text, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "rust",
		                      .code = fh_buf_str(&text),
		                      .files = { { "split.rs", { codec.p, codec.n }, 0 } },
		                      .file_count = 1 };
	r = fh_build_keep(fh_split_builds(s), client, &build, &judge, err);
	if (r >= 0 && judge.error)
		ret->unfit = FH_TAKE_PTR(judge.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_RUST, true, &judge, ret, err);
	return r;
}

/* Once for all tasks. */
static int compile_codec(struct fh_split *s, struct fh_client *client, struct fh_artifact *ret, struct fh_error *err)
{
	struct fh_str codec, unused;
	int r = fh_split_drivers(s, FH_JUDGE_RUST, &codec, &unused, err);
	struct fh_build build = { .language = "rust", .code = codec, .flags = fh_rust_codec_flags };
	if (r >= 0)
		r = fh_build_keep(fh_split_builds(s), client, &build, ret, err);
	if (r >= 0 && ret->error)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the codec does not compile: %s", ret->error);
	return r;
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_artifact struct fh_artifact codec = { 0 }, program = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0), crate = FH_BUF_INIT(0);
	fh_rust_head(&text, p->head);
	fh_buf_add(&text, p->completion.p, p->completion.n);
	int r = compile_codec(s, client, &codec, err);
	if (r >= 0)
		r = fh_rust_candidate(fh_buf_str(&p->problem->head), fh_buf_str(&text), &crate, err);
	if (r < 0)
		return r;
	struct fh_build build = { .language = "rust",
		                      .code = fh_buf_str(&crate),
		                      .flags = fh_rust_candidate_flags,
		                      .files = { { FH_RUST_CODEC, { codec.data, codec.size }, 0 } },
		                      .file_count = 1 };
	r = fh_build_run(fh_split_builds(s), client, &build, &program, err);
	if (r >= 0 && program.error)
		ret->compile_error = FH_TAKE_PTR(program.error);
	else if (r >= 0)
		r = fh_split_program(s, FH_JUDGE_RUST, false, &program, ret, err);
	return r;
}

const struct fh_split_language fh_split_rust = {
	.language = FH_JUDGE_RUST,
	.name = "rust",
	.judge = { "guest/split_codec.rs" },
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};
