/* SPDX-License-Identifier: MIT */
/* Filters that choose which tests of a config are run: --filter-… */
#pragma once
#include "eval/config/tests/tests.h"

struct fh_eval_filter {
	FH_NULLABLE const char *pattern;         /* regular expression, searched in the description */
	FH_NULLABLE const char *range;           /* "START:END", zero-based, END not included */
	FH_NULLABLE const char *const *metadata; /* metadata that tests must have, as "KEY=VALUE"; NULL-terminated */
	/* Results files of earlier evals: keep the tests that did not pass in them, that failed an assertion, that were
	 * errors. */
	FH_NULLABLE const char *failing, *failing_only, *errors_only;
	uint64_t first_n;                    /* run only so many tests; UINT64_MAX: no limit */
	uint64_t sample;                     /* run a random sample of so many tests; UINT64_MAX: no sample */
	FH_NULLABLE const char *sample_seed; /* seed of the sample; NULL: made from the clock */
};
#define FH_EVAL_FILTER_INIT                                                                                            \
	{                                                                                                                  \
		.first_n = UINT64_MAX, .sample = UINT64_MAX                                                                    \
	}

/* Whether any filter is set. */
bool fh_eval_filter_is_set(const struct fh_eval_filter *f);
/* The seed of a sample among the tests of one scenario. free() it. */
FH_OWN char *fh_eval_filter_seed(const char *seed, size_t scenario);
/* Keeps the tests in "START:END" (either may be left out). */
int fh_eval_filter_range(const char *range, struct fh_eval_tests *tests, struct fh_error *err);

/* Keeps the tests that pass all filters, applied in this order: metadata, earlier results, pattern, range, first_n,
 * sample. */
int fh_eval_filter_apply(const struct fh_eval_filter *f, FH_NULLABLE const json_t *default_test,
                         struct fh_eval_tests *tests, struct fh_error *err);
