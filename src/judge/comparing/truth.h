/* SPDX-License-Identifier: MIT */
/*
 * Expected values that a data set does not hold: the reference has to give them (EvalPlus).
 *
 * Before anything is judged, each such problem's reference runs once in a sandbox of its own (guest/python/truth.py),
 * and the problem's tail becomes a test that knows the values. They are kept for this run of the program and nowhere
 * else: a file that holds them could be read, or be out of date.
 */
#pragma once
#include "judge/session.h"

struct fh_judge_truth {
	struct fh_buf inputs; /* a Python expression for a list of argument lists */
	size_t count;         /* of them */
	double atol;
	const char *oracle; /* static: which rule of guest/python/test_plus.py decides; "": equality */
};
/* Oracles that more than the test has to know of: one asks only whether the reference gives a value, the other takes
 * any. */
#define FH_ORACLE_IS_THERE "is there"
#define FH_ORACLE_ANY_VALUE "any value"
void fh_judge_truth_free(struct fh_judge_truth *t); /* NULL is fine */
/* Everything that a verdict depends on. */
void fh_judge_truth_hash(const struct fh_judge_truth *t, struct fh_sha256 *h);

/* Completes the problems that samples name; those that need nothing are left as they are. Where a reference gives no
 * values, its problem's `fault` says why, and the others go on. Fails when there is no engine, or it was cancelled. */
int fh_judge_truth_complete(const struct fh_judge_settings *settings, struct fh_judge_problems *problems,
                            const struct fh_judge_samples *samples, struct fh_error *err);
