/* SPDX-License-Identifier: MIT */
/*
 * Computes expected values that are not in a data set, by running its reference (EvalPlus).
 *
 * Before samples are judged, the reference of each such problem runs once in its own sandbox (guest/python/truth.py),
 * and the problem's tail becomes a test that contains the values. They are kept in memory only: a file could be read by
 * others, or be outdated.
 */
#pragma once
#include "base/text/sha256.h"
#include "judge/problems/problem.h"
#include "judge/common/settings.h"

struct fh_judge_truth {
	struct fh_buf inputs; /* a Python expression for a list of argument lists */
	size_t count;         /* number of argument lists in `inputs` */
	double atol;
	const char *oracle; /* constant: the rule of guest/python/test_plus.py that decides; "": equality */
};
/* Two oracles that not only the test has to know: the first asks only whether the reference returns a value, the second
 * accepts any value. */
#define FH_ORACLE_IS_THERE "is there"
#define FH_ORACLE_ANY_VALUE "any value"
void fh_judge_truth_free(struct fh_judge_truth *t); /* NULL is allowed */
/* Adds everything that can influence a verdict. */
void fh_judge_truth_hash(const struct fh_judge_truth *t, struct fh_sha256 *h);

/* Completes the problems that samples refer to; problems that need no values are not changed. If a reference fails, its
 * problem's `fault` has the reason, and the others continue. Fails if no engine is available, or on cancellation. */
int fh_judge_truth_complete(const struct fh_judge_settings *settings, struct fh_judge_problems *problems,
                            const struct fh_judge_samples *samples, struct fh_error *err);
