/* SPDX-License-Identifier: MIT */
/*
 * Judges all samples without a result, with several threads over one session: the first sample of each task, then the
 * second of each, and so on. Each sample is judged separately: equal samples do not share a result.
 */
#pragma once
#include "judge/results.h"
#include "judge/session.h"

struct fh_batch_options {
	unsigned repeat; /* number of times that each sample is judged; 0: once */
	unsigned jobs;   /* number of threads; 0: one for each processor that we may use */
	/* Called after each sample, by one thread at a time; `done` includes rows from an earlier run. May be NULL. */
	void (*on_done)(void *context, size_t done, enum fh_verdict verdict);
	/* Called by any thread when a sample's row was written; a negative code ends the batch. May be NULL. */
	int (*on_row)(void *context, size_t index, const struct fh_judge_outcome *o, struct fh_error *err);
	void *context;
};

/* Runs work(argument) in several threads with signals blocked, and waits for all. jobs 0: one for each processor; at
 * most `most`. */
int fh_batch_threads(void *(*work)(void *argument), void *argument, unsigned jobs, size_t most, struct fh_error *err);

/* Returns 0 when all samples have a result; -FH_E_CANCELLED when settings.cancel was set (finished rows are kept). The
 * first error of any thread ends the others. */
int fh_batch_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                 const struct fh_judge_samples *samples, struct fh_results *results,
                 const struct fh_batch_options *options, struct fh_error *err);
