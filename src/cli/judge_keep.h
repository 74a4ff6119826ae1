/* SPDX-License-Identifier: MIT */
/*
 * A judgement on its way into the store, row by row as samples are judged (store/writer.h).
 *
 * The results file stays what a judgement resumes from. One that goes on with rows of its results file goes on in the
 * entry of the store that was written beside that file, which its tag `results` names: cells of samples that are judged
 * anew are removed, and rows that the file has and the store has not are added, without what was not kept of the run.
 */
#pragma once
#include "judge/results.h"
#include "judge/self_check.h"

struct fh_judge_keep {
	const char *problems_path, *samples_path, *results_path;
	const json_t *argv; /* of the command */
	struct fh_judge_session *session;
	const struct fh_judge_problems *problems;
	const struct fh_judge_samples *samples;
	const struct fh_results *results;
	const char (*keys)[FH_SHA256_HEX]; /* of the samples, as in the results file */
	bool allow_in_process;
	FH_NULLABLE const struct fh_self_check *self_check; /* NULL: it was left out */
};

struct fh_judge_kept;
/* What k names is borrowed until the end. FH_E_UNAVAILABLE that is not retryable: this build has no store. */
int fh_judge_kept_begin(const struct fh_judge_keep *k, struct fh_judge_kept **ret, struct fh_error *err);
const char *fh_judge_kept_id(const struct fh_judge_kept *k);
/* The sample's row is in the results already; from any thread. */
int fh_judge_kept_put(struct fh_judge_kept *k, size_t index, FH_NULLABLE const struct fh_judge_outcome *o,
                      struct fh_error *err);
/* What was put is on the disk. Frees k in every case. */
int fh_judge_kept_end(struct fh_judge_kept *k, bool complete, struct fh_error *err);
void fh_judge_kept_close(FH_NULLABLE struct fh_judge_kept *k);
