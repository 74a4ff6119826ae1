/* SPDX-License-Identifier: MIT */
/*
 * A judgement in the store, as a sink of its rows (sink/sink.h, store/writer.h).
 *
 * A judgement is resumed from its results file, not from the store. Its entry in the store is found by the tag
 * `results`, which names that file: cells of samples that are judged again are removed, and recalled rows that only the
 * file has are added, without the evidence that only the store keeps.
 */
#pragma once
#include "judge/rows/results.h"
#include "judge/rows/row.h"
#include "judge/self_check.h"

struct fh_judge_keep {
	const char *problems_path, *samples_path, *results_path;
	const json_t *argv; /* the command line of the judgement */
	const struct fh_judgement *judgement;
	struct fh_results *results;
	bool allow_in_process;
	FH_NULLABLE const struct fh_self_check *self_check; /* NULL: the self-check was skipped */
};

/* Borrows the members of k until it is closed. *ret_id is the id of the store's entry; free() it. FH_E_UNAVAILABLE
 * without `retryable`: this build has no store. */
int fh_judge_keep_begin(const struct fh_judge_keep *k, struct fh_sink *ret, char **ret_id, struct fh_error *err);
