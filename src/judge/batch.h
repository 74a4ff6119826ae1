/* SPDX-License-Identifier: MIT */
/*
 * Judges every sample that has no result yet, with several threads over one session: the first of each task, then the
 * second of each, and so on. Each row is a run of its own: equal samples do not share a result.
 */
#pragma once
#include "judge/results.h"
#include "judge/session.h"

struct fh_batch_options {
	unsigned repeat; /* how often each sample is judged; 0: once */
	unsigned jobs;   /* threads; 0: as many as there are processors for us */
	/* Called after each sample, by one thread at a time; done counts the kept rows too. NULL: none. */
	void (*on_done)(void *context, size_t done, enum fh_verdict verdict);
	/* Called by any thread when the row of a sample is in the results; a negative code ends the batch. NULL: none. */
	int (*on_row)(void *context, size_t index, const struct fh_judge_outcome *o, struct fh_error *err);
	void *context;
};

/* Runs work(argument) in several threads that take no signals, and waits for all. jobs 0: one for each processor; never
 * more than `most`. */
int fh_batch_threads(void *(*work)(void *argument), void *argument, unsigned jobs, size_t most, struct fh_error *err);

/* 0 when all samples have a result; -FH_E_CANCELLED when settings.cancel was set (what was done is kept). The first
 * error of any thread ends the others. */
int fh_batch_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                 const struct fh_judge_samples *samples, struct fh_results *results,
                 const struct fh_batch_options *options, struct fh_error *err);
