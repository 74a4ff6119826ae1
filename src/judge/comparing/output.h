/* SPDX-License-Identifier: MIT */
/*
 * Judging by what a program prints: it runs once for each case, in a fresh sandbox that holds nothing but the program
 * and the case's input, and its output is compared out here. What is expected never enters its sandbox, nothing of one
 * case is left for the next, and output that was cut off at its limit equals nothing.
 *
 * Instead of a rule a problem may bring a checker: a program that runs in a sandbox of its own with three files, input,
 * output and expected, whose names are its arguments (testlib's order). Exit status 0 accepts; any other end rejects,
 * as the output that it read is the candidate's.
 */
#pragma once
#include "base/sha256.h"
#include "judge/comparing/compare.h"
#include "judge/session.h"

#define FH_OUTPUT_CASES_MAX 10000

struct fh_output_case {
	struct fh_buf input, expected;
	int exit_code; /* that the program has to end with */
};

struct fh_judge_output {
	enum fh_compare rule;
	double tolerance;
	FH_NULLABLE char *checker, *checker_language; /* the rule is not used */
	size_t checker_size;
	struct fh_output_case *cases;
	size_t count, capacity;
};
void fh_judge_output_free(struct fh_judge_output *o); /* NULL is fine */
/* Everything that a verdict depends on. */
void fh_judge_output_hash(const struct fh_judge_output *o, struct fh_sha256 *h);

/* Judges one program, in order of the cases until one fails. 0 with an outcome, whose run is that of the last case
 * with the usage of all (times added, peaks the largest); a negative code for what is no outcome of the program. */
int fh_judge_by_output(struct fh_client *client, const struct fh_judge_settings *settings, const char *language,
                       const struct fh_judge_output *o, struct fh_str program, unsigned turn,
                       struct fh_judge_outcome *ret, struct fh_error *err);
