/* SPDX-License-Identifier: MIT */
/*
 * Judges a program by its output. The program runs once for each case, in a fresh sandbox that contains only the
 * program and the case's input; its output is compared outside. The expected output never enters its sandbox, no case
 * leaves anything for the next, and truncated output equals nothing.
 *
 * Instead of a rule a problem may have a checker: a program that runs in its own sandbox with three files, input,
 * output and expected, whose names are its arguments (testlib's order). Exit status 0 accepts. Any other end rejects,
 * since a checker that crashes does so on the candidate's output.
 */
#pragma once
#include "base/text/sha256.h"
#include "judge/comparing/compare.h"
#include "judge/common/outcome.h"
#include "judge/common/settings.h"

#define FH_OUTPUT_CASES_MAX 10000

struct fh_output_case {
	struct fh_buf input, expected;
	int exit_code; /* required exit code */
};

struct fh_judge_output {
	enum fh_compare rule;
	double tolerance;
	FH_NULLABLE char *checker, *checker_language; /* the checker, used instead of `rule`; NULL: none */
	size_t checker_size;
	struct fh_output_case *cases;
	size_t count, capacity;
};
void fh_judge_output_free(struct fh_judge_output *o); /* NULL is allowed */
/* Adds everything that can influence a verdict. */
void fh_judge_output_hash(const struct fh_judge_output *o, struct fh_sha256 *h);

/* Judges one program. Runs the cases in order until one fails. 0 with an outcome, whose `run` is that of the last case
 * with the usage of all (sums of times, maximums of peaks); a negative code for an error that is not the program's. */
int fh_judge_by_output(struct fh_client *client, const struct fh_judge_settings *settings, const char *language,
                       const struct fh_judge_output *o, struct fh_str program, unsigned turn,
                       struct fh_judge_outcome *ret, struct fh_error *err);
