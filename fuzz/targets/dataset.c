/* SPDX-License-Identifier: MIT */
/* Data sets: problems of any format and samples for them, as `fumehood judge` reads them, and which can be split. */
#include "code/declaration.h"
#include "fuzz.h"
#include "judge/formats/data_set.h"
#include "judge/split/split.h"

/* Samples for the first problem that was read, and one for none. */
static void read_samples(const struct fh_judge_problems *p, struct fh_str rest)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_samples struct fh_judge_samples samples = { 0 };
	int r = fh_judge_samples_read(fh_fuzz_file((const uint8_t *)rest.p, rest.n), p, &samples, &err);
	FH_FUZZ_CHECK(r == 0 || err.message[0]);
	for (size_t i = 0; r == 0 && i < samples.count; i++)
		FH_FUZZ_CHECK(samples.items[i].problem < p->count && samples.items[i].completion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_problems struct fh_judge_problems p = { 0 };
	/* problems, then after a line of one "=" the samples */
	const uint8_t *cut = size ? memmem(data, size, "\n=\n", 3) : NULL;
	size_t first = cut ? (size_t)(cut - data) : size;
	int r = fh_judge_problems_read(fh_fuzz_file(data, first), &p, &err);
	FH_FUZZ_CHECK(r == 0 || err.message[0]);
	for (size_t i = 0; r == 0 && i < p.count; i++) {
		const struct fh_judge_problem *x = &p.items[i];
		const struct fh_judge_problem *found = fh_judge_problem_find(&p, x->task_id);
		FH_FUZZ_CHECK(found == x);
		FH_FUZZ_CHECK(x->language < FH_JUDGE_LANGUAGE_COUNT_ && x->format && x->line > 0);
		FH_FUZZ_CHECK(x->head.n + x->tail.n <= FH_JUDGE_PROBLEM_MAX);
		const char *why = fh_split_unfit(x);
		FH_FUZZ_CHECK(!why || *why);
	}
	if (r == 0 && cut)
		read_samples(&p, (struct fh_str){ (const char *)cut + 3, size - first - 3 });

	char *copy = fh_fuzz_copy(data, size);
	struct fh_str text = { copy, size }, part = fh_cpp_declaration(text), def = fh_last_python_def(text);
	FH_FUZZ_CHECK(part.n <= text.n && (!part.n || part.p == text.p));
	FH_FUZZ_CHECK(!def.n || (def.p >= text.p && def.p + def.n <= text.p + text.n));
	if (def.n)
		FH_FUZZ_CHECK(fh_declares_python(text, def));
	free(copy);
	return 0;
}
