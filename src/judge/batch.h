/* SPDX-License-Identifier: MIT */
/*
 * Judges all samples whose row no sink recalls, with several threads over one session: the first sample of each task,
 * then the second of each, and so on. Each sample is judged separately: equal samples do not share a result.
 */
#pragma once
#include "judge/rows/row.h"
#include "sink/sink.h"

struct fh_batch_options {
	unsigned repeat; /* how often each sample is judged; 0: once */
	unsigned jobs;   /* number of threads; 0: one for each processor that we may use */
	/* Called after each sample, by one thread at a time; `done` includes rows from an earlier run. May be NULL. */
	void (*on_done)(void *context, size_t done, enum fh_verdict verdict);
	void *context;
};

/* Runs work(argument) in several threads with signals blocked, and waits for all. jobs 0: one for each processor; at
 * most `most`. */
int fh_batch_threads(void *(*work)(void *argument), void *argument, unsigned jobs, size_t most, struct fh_error *err);

/* Brings the row of every sample to the sinks. Returns 0 when all samples have one; -FH_E_CANCELLED when
 * settings.cancel was set (finished rows are kept). The first error of any thread ends the others. */
int fh_batch_run(const struct fh_judgement *judgement, const struct fh_sinks *sinks,
                 const struct fh_batch_options *options, struct fh_error *err);
