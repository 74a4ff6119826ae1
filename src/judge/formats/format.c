/* SPDX-License-Identifier: MIT */
#include "judge/formats/format.h"

const struct fh_judge_format *const fh_judge_formats[] = { &fh_judge_evalplus, &fh_judge_pack,    &fh_judge_human_eval,
	                                                       &fh_judge_mbpp,     &fh_judge_generic, NULL };

bool fh_judge_field(const json_t *row, const char *key, struct fh_str *ret)
{
	const json_t *v = json_object_get(row, key);
	if (!json_is_string(v))
		return false;
	*ret = (struct fh_str){ json_string_value(v), json_string_length(v) };
	return true;
}

void fh_judge_add_lines(struct fh_buf *out, struct fh_str s)
{
	fh_buf_add(out, s.p, s.n);
	if (s.n > 0 && s.p[s.n - 1] != '\n')
		fh_buf_addc(out, '\n');
}

int fh_judge_problem_of_row(const json_t *row, struct fh_judge_problem *ret, struct fh_error *err)
{
	struct fh_judge_problem p = { .task_id = fh_xstrdup(""), .format = fh_judge_generic.name };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_json_write(&text, row, 0);
	int r = fh_judge_generic.read(row, fh_buf_str(&text), &p, err);
	if (r >= 0 && p.head.n + p.tail.n > FH_JUDGE_PROBLEM_MAX)
		r = fh_judge_wrong(err, "shorten the tests", "the task is larger than %zu MiB", FH_JUDGE_PROBLEM_MAX >> 20);
	if (r < 0) {
		fh_judge_problem_release(&p);
		return r;
	}
	if (!p.entry_point)
		p.entry_point = fh_xstrdup("");
	*ret = p;
	return 0;
}
