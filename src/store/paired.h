/* SPDX-License-Identifier: MIT */
/*
 * Whether the difference between two evals of the same tasks can be chance.
 *
 * McNemar's exact test (McNemar 1947; exact: Fagerland, Lydersen and Laake 2013, "The McNemar test for binary
 * matched-pairs data", section 2): of the n = b + c tasks that passed in one eval only, b in the first and c in the
 * second, each would do so with probability 1/2 if the two were equal:
 *
 *     p = min(1, 2 * sum over i = 0 … min(b, c) of C(n, i) / 2^n)
 *
 * Paired bootstrap by task (Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13, percentiles):
 * tasks are drawn with replacement, each with its difference; the interval holds the middle 95 % of the means.
 */
#pragma once
#include "base/base.h"

double fh_paired_mcnemar(uint64_t b, uint64_t c);

struct fh_paired_interval {
	double mean, low, high;
};
/* Computes the interval. The generator has a fixed seed: equal differences give an equal interval. n >= 1. */
struct fh_paired_interval fh_paired_bootstrap(const double *differences, size_t n);

/* The interval by a formula, for tasks of equal weight: of n pairs, b passed in the first only and c in the second
 * only. Wald's interval for paired proportions (Fagerland, Lydersen and Laake 2014, "Recommended tests and confidence
 * intervals for paired binomial proportions", section 4.1). n 0: any difference is possible. */
void fh_paired_difference(uint64_t b, uint64_t c, uint64_t n, struct fh_paired_interval *ret);
