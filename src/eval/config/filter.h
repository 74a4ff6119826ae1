/* SPDX-License-Identifier: MIT */
/* Which tests of a config are to be run: --filter-… */
#pragma once
#include "eval/config/tests.h"

struct fh_eval_filter {
	FH_NULLABLE const char *pattern;         /* regular expression, searched in the description */
	FH_NULLABLE const char *range;           /* "START:END", zero-based, the end is not included */
	FH_NULLABLE const char *const *metadata; /* "KEY=VALUE", all must hold; NULL-terminated */
	/* Results files of before: tests that did not pass there, that failed an assertion, that were errors. */
	FH_NULLABLE const char *failing, *failing_only, *errors_only;
	uint64_t first_n;                    /* UINT64_MAX: all */
	uint64_t sample;                     /* UINT64_MAX: all */
	FH_NULLABLE const char *sample_seed; /* NULL: from the clock */
};
#define FH_EVAL_FILTER_INIT                                                                                            \
	{                                                                                                                  \
		.first_n = UINT64_MAX, .sample = UINT64_MAX                                                                    \
	}

/* Whether it can leave anything out. */
bool fh_eval_filter_is_set(const struct fh_eval_filter *f);
/* What a sample's seed becomes for the tests of one scenario. free() it. */
FH_OWN char *fh_eval_filter_seed(const char *seed, size_t scenario);
/* Keeps those in "START:END" (either may be left out). */
int fh_eval_filter_range(const char *range, struct fh_eval_tests *tests, struct fh_error *err);

/* Keeps what passes, in the order: metadata, results of before, pattern, range, first_n, sample. */
int fh_eval_filter_apply(const struct fh_eval_filter *f, FH_NULLABLE const json_t *default_test,
                         struct fh_eval_tests *tests, struct fh_error *err);
