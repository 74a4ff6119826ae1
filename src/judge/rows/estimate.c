/* SPDX-License-Identifier: MIT */
#include "judge/rows/estimate.h"

#include <math.h>

double fh_pass_at_k(uint64_t n, uint64_t c, uint64_t k)
{
	if (n - c < k)
		return 1.0;
	double none = 1.0;
	for (uint64_t i = n - c + 1; i <= n; i++)
		none *= 1.0 - (double)k / (double)i;
	return 1.0 - none;
}

double fh_pass_hat_k(uint64_t n, uint64_t c, uint64_t k)
{
	double all = 1.0;
	for (uint64_t i = 0; i < k; i++) {
		if (i >= c)
			return 0.0;
		all *= (double)(c - i) / (double)(n - i);
	}
	return all;
}

static void estimate(const struct fh_task_count *tasks, size_t count, uint64_t k,
                     double (*of)(uint64_t n, uint64_t c, uint64_t k), struct fh_estimate *ret)
{
	struct fh_estimate e = { 0 };
	double squares = 0;
	/* Welford's algorithm: the mean and the sum of squared deviations in one pass, without cancellation. */
	for (size_t i = 0; i < count; i++) {
		if (k == 0 || tasks[i].samples < k)
			continue;
		double x = of(tasks[i].samples, tasks[i].passed, k), before = x - e.value;
		e.tasks++;
		e.value += before / (double)e.tasks;
		squares += before * (x - e.value);
	}
	if (e.tasks >= 2) {
		double t = (double)e.tasks;
		e.has_interval = true;
		e.standard_error = sqrt(squares / (t * (t - 1)));
		e.low = fmax(0.0, e.value - 1.96 * e.standard_error);
		e.high = fmin(1.0, e.value + 1.96 * e.standard_error);
	}
	*ret = e;
}

void fh_estimate_pass_at_k(const struct fh_task_count *tasks, size_t count, uint64_t k, struct fh_estimate *ret)
{
	estimate(tasks, count, k, fh_pass_at_k, ret);
}

void fh_estimate_pass_hat_k(const struct fh_task_count *tasks, size_t count, uint64_t k, struct fh_estimate *ret)
{
	estimate(tasks, count, k, fh_pass_hat_k, ret);
}
