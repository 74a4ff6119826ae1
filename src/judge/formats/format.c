/* SPDX-License-Identifier: MIT */
#include "judge/formats/format.h"

#include <stdio.h>

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

int fh_judge_wrong(struct fh_error *err, const char *hint, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fh_error_set(err, FH_E_CONFIG, "%s", text);
	fh_error_hint(err, "%s", hint);
	return -FH_E_CONFIG;
}

bool fh_judge_is_name(struct fh_str s)
{
	if (s.n == 0 || s.n > 256 || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] == '_' || (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z') ||
		      (s.p[i] >= 'A' && s.p[i] <= 'Z') || (s.p[i] & 0x80)))
			return false;
	return true;
}
