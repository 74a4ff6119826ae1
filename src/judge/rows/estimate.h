/* SPDX-License-Identifier: MIT */
/*
 * pass@k and its confidence interval.
 *
 * Of n samples of one task, c passed. The unbiased estimate that at least one of k drawn samples passes (Chen et al.
 * 2021, "Evaluating Large Language Models Trained on Code", section 2.1):
 *
 *     pass@k = 1 - C(n-c, k) / C(n, k) = 1 - prod over i = n-c+1 … n of (1 - k/i)      for n >= k
 *
 * The figure of a data set is the mean over its T tasks with n >= k. Samples of one task are correlated, so the tasks
 * are treated as clusters (Miller 2024, "Adding Error Bars to Evals", section 2.2, with one value for each cluster):
 *
 *     se = sqrt( sum over tasks of (x_t - mean)^2 / (T * (T - 1)) ),   95 % interval: mean ± 1.96 se, within 0 … 1
 *
 * The interval covers the choice of other tasks of the same kind, not of other samples for the same tasks. There is
 * none for fewer than two tasks.
 */
#pragma once
#include "base/base.h"

struct fh_estimate {
	size_t tasks; /* tasks with enough samples; 0: value is meaningless */
	double value;
	bool has_interval;
	double standard_error, low, high;
};

/* n >= k >= 1, c <= n. */
double fh_pass_at_k(uint64_t n, uint64_t c, uint64_t k);

struct fh_task_count {
	uint64_t samples, passed;
};
void fh_estimate_pass_at_k(const struct fh_task_count *tasks, size_t count, uint64_t k, struct fh_estimate *ret);

/* pass^k: the estimate that all of k drawn samples pass (Yao et al. 2024, "tau-bench", section 4), which is C(c, k) /
 * C(n, k) for each task; mean and interval as for pass@k. */
double fh_pass_hat_k(uint64_t n, uint64_t c, uint64_t k);
void fh_estimate_pass_hat_k(const struct fh_task_count *tasks, size_t count, uint64_t k, struct fh_estimate *ret);
