/* SPDX-License-Identifier: MIT */
#include "judge/split.h"

#include "judge/declaration.h"

static const char *unfit(const struct fh_judge_problem *p)
{
	size_t at;
	struct fh_str head = fh_buf_str(&p->head), name = fh_last_javascript_name(head, &at);
	if (!fh_str_eq(name, p->entry_point))
		return "the declaration does not end with the entry point";
	while (at < head.n && (head.p[at] == '\n' || head.p[at] == ' '))
		at++;
	return head.n - at > 6 && memcmp(head.p + at, "class ", 6) == 0 ? "the entry point is a class" : NULL;
}

/* What stands before the entry point are helpers and belongs to the task. */
static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	struct fh_str head = fh_buf_str(&p->problem->head), name = fh_str(p->problem->entry_point);
	fh_last_javascript_name(head, &head.n);
	const struct fh_str parts[] = { name, head, fh_buf_str(&p->problem->tail) };
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), &p->changes);
	return fh_split_script_plan(s, FH_JUDGE_JAVASCRIPT, true, &ret->plan, err);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	fh_buf_add(&program, p->head.p, p->head.n);
	fh_buf_add(&program, p->completion.p, p->completion.n);
	const struct fh_str parts[] = { fh_str(p->problem->entry_point), fh_buf_str(&program) };
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), NULL);
	return fh_split_script_plan(s, FH_JUDGE_JAVASCRIPT, false, &ret->plan, err);
}

const struct fh_split_language fh_split_javascript = {
	.language = FH_JUDGE_JAVASCRIPT,
	.name = "javascript",
	.judge = { "guest/split_codec.js", "guest/split_judge.js" },
	.candidate = { "guest/split_codec.js", "guest/program.js", "guest/split_candidate.js" },
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};
