/* SPDX-License-Identifier: MIT */
/*
 * Stores a judgement, row by row as samples are judged (store/writer.h).
 *
 * A judgement is resumed from its results file, not from the store. Its entry in the store is found by the tag
 * `results`, which names that file: cells of samples that are judged again are removed, and rows that only the file
 * has are added, without the data that only the store keeps.
 */
#pragma once
#include "judge/results.h"
#include "judge/self_check.h"

struct fh_judge_keep {
	const char *problems_path, *samples_path, *results_path;
	const json_t *argv; /* the command line of the judgement */
	struct fh_judge_session *session;
	const struct fh_judge_problems *problems;
	const struct fh_judge_samples *samples;
	const struct fh_results *results;
	const char (*keys)[FH_SHA256_HEX]; /* keys of the samples, as in the results file */
	bool allow_in_process;
	FH_NULLABLE const struct fh_self_check *self_check; /* NULL: the self-check was skipped */
};

struct fh_judge_kept;
/* Borrows the members of k until the end. FH_E_UNAVAILABLE without `retryable`: this build has no store. */
int fh_judge_kept_begin(const struct fh_judge_keep *k, struct fh_judge_kept **ret, struct fh_error *err);
const char *fh_judge_kept_id(const struct fh_judge_kept *k);
/* Stores the row of a sample, after the results have it. Thread-safe. */
int fh_judge_kept_put(struct fh_judge_kept *k, size_t index, FH_NULLABLE const struct fh_judge_outcome *o,
                      struct fh_error *err);
/* Brings all rows to the disk. Always frees k. */
int fh_judge_kept_end(struct fh_judge_kept *k, bool complete, struct fh_error *err);
void fh_judge_kept_close(FH_NULLABLE struct fh_judge_kept *k);
