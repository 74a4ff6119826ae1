/* SPDX-License-Identifier: MIT */
/* Two evals of the same tests: what the rows that both have say of the difference. */
#pragma once
#include <stdint.h>

struct fh_paired {
	uint64_t both, neither, fixed, regressed; /* passed in both, in none, in the second alone, in the first alone */
};

/* How likely a difference of that size or more is by chance alone: McNemar's test in its exact form, two-sided (a sign
 * test on the rows that differ). 1 without such rows. */
double fh_paired_p(const struct fh_paired *p);
/* The difference of the rates, second less first, with its 95 % interval (Wald's for paired proportions). */
void fh_paired_difference(const struct fh_paired *p, double *ret, double *ret_low, double *ret_high);
