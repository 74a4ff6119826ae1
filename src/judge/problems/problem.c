/* SPDX-License-Identifier: MIT */
#include "judge/problems/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "judge/problems/output.h"
#include "judge/problems/truth.h"

void fh_judge_problem_release(struct fh_judge_problem *p)
{
	free(p->task_id);
	free(p->entry_point);
	free(p->fault);
	fh_buf_release(&p->head);
	fh_buf_release(&p->tail);
	fh_buf_release(&p->declaration);
	fh_buf_release(&p->reference);
	fh_judge_output_free(p->output);
	fh_judge_truth_free(p->truth);
	*p = (struct fh_judge_problem){ 0 };
}

void fh_judge_problems_release(struct fh_judge_problems *p)
{
	for (size_t i = 0; i < p->count; i++)
		fh_judge_problem_release(&p->items[i]);
	free(p->items);
	free(p->by_task);
	*p = (struct fh_judge_problems){ 0 };
}

const struct fh_judge_problem *fh_judge_problem_find(const struct fh_judge_problems *p, const char *task_id)
{
	size_t low = 0, high = p->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fh_judge_problem *at = &p->items[p->by_task[middle]];
		int c = strcmp(task_id, at->task_id);
		if (c == 0)
			return at;
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void fh_judge_samples_release(struct fh_judge_samples *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i].completion);
	free(s->items);
	*s = (struct fh_judge_samples){ 0 };
}

struct fh_str fh_judge_problem_declaration(const struct fh_judge_problem *p)
{
	return fh_buf_str(p->declaration.n ? &p->declaration : &p->head);
}

struct fh_judge_sample fh_judge_problem_reference(const struct fh_judge_problem *p)
{
	return (struct fh_judge_sample){ .completion = p->reference.p,
		                             .size = p->reference.n,
		                             .is_whole = p->reference_is_whole };
}

/* Sources of randomness in Python, JavaScript, C and C++, Java, Go and Rust; most names contain "rand". */
static const char *const sources[] = { "rand", "mt19937", "minstd", "ranlux", "knuth_b", "shuffle", "secrets" };

bool fh_judge_problem_draws(const struct fh_judge_problem *p)
{
	const struct fh_buf *const texts[] = { &p->tail, &p->head };
	for (size_t t = 0; t < FH_ARRAY_SIZE(texts); t++)
		for (size_t s = 0; s < FH_ARRAY_SIZE(sources); s++) {
			size_t n = strlen(sources[s]);
			for (size_t i = 0; i + n <= texts[t]->n; i++)
				if (strncasecmp(texts[t]->p + i, sources[s], n) == 0)
					return true;
		}
	return false;
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
