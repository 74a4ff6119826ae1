/* SPDX-License-Identifier: MIT */
#include "view/paired.h"

#include <math.h>

double fh_paired_p(const struct fh_paired *p)
{
	double n = (double)(p->fixed + p->regressed);
	uint64_t fewer = p->fixed < p->regressed ? p->fixed : p->regressed;
	double sum = 0;
	for (uint64_t i = 0; i <= fewer; i++)
		sum += exp(lgamma(n + 1) - lgamma((double)i + 1) - lgamma(n - (double)i + 1) - n * M_LN2);
	return fmin(1, 2 * sum);
}

void fh_paired_difference(const struct fh_paired *p, double *ret, double *ret_low, double *ret_high)
{
	double n = (double)(p->both + p->neither + p->fixed + p->regressed), differ = (double)(p->fixed + p->regressed);
	double gain = (double)p->fixed - (double)p->regressed;
	double d = n > 0 ? gain / n : 0, half = n > 0 ? 1.959964 * sqrt(differ - gain * gain / n) / n : 1;
	*ret = d;
	*ret_low = fmax(-1, d - half);
	*ret_high = fmin(1, d + half);
}
