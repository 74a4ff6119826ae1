/* SPDX-License-Identifier: MIT */
#include "store/paired.h"

#include <math.h>

#define DRAWS 2000
#define WORK_MAX 20000000.0 /* total of differences drawn: with very many tasks there are fewer draws */

double fh_paired_mcnemar(uint64_t b, uint64_t c)
{
	double n = (double)(b + c), sum = 0;
	for (uint64_t i = 0; i <= FH_MIN(b, c); i++)
		sum += exp(lgamma(n + 1) - lgamma((double)i + 1) - lgamma(n - (double)i + 1) - n * log(2));
	return fmin(1, 2 * sum);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct fh_paired_interval fh_paired_bootstrap(const double *differences, size_t n)
{
	size_t draws = (size_t)fmax(200, fmin(DRAWS, WORK_MAX / (double)n));
	fh_auto_free double *means = fh_xcalloc(draws, sizeof(*means));
	uint64_t state = 1;
	struct fh_paired_interval r = { 0 };
	for (size_t i = 0; i < n; i++)
		r.mean += differences[i] / (double)n;
	for (size_t i = 0; i < draws; i++) {
		double sum = 0;
		for (size_t j = 0; j < n; j++)
			sum += differences[next(&state) % n];
		means[i] = sum / (double)n;
	}
	qsort(means, draws, sizeof(*means), by_value);
	r.low = means[(size_t)(0.025 * (double)(draws - 1))];
	r.high = means[(size_t)ceil(0.975 * (double)(draws - 1))];
	return r;
}

void fh_paired_difference(uint64_t b, uint64_t c, uint64_t n, struct fh_paired_interval *ret)
{
	double pairs = (double)n, gain = (double)c - (double)b;
	double half = n ? 1.959964 * sqrt((double)(b + c) - gain * gain / pairs) / pairs : 1;
	*ret = (struct fh_paired_interval){ .mean = n ? gain / pairs : 0 };
	ret->low = fmax(-1, ret->mean - half);
	ret->high = fmin(1, ret->mean + half);
}
