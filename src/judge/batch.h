/* SPDX-License-Identifier: MIT */
/*
 * Judges every sample that has no result yet, with several threads over one session. Each row is a run of its own:
 * equal samples do not share a result.
 */
#pragma once
#include "judge/results.h"
#include "judge/session.h"

struct fh_batch_options {
	unsigned jobs; /* threads; 0: as many as there are processors for us */
	/* Called after each sample, by one thread at a time; done counts the kept rows too. NULL: none. */
	void (*on_done)(void *context, size_t done, enum fh_verdict verdict);
	void *context;
};

/* 0 when all samples have a result; -FH_E_CANCELLED when settings.cancel was set (what was done is kept). The first
 * error of any thread ends the others. */
int fh_batch_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                 const struct fh_judge_samples *samples, struct fh_results *results,
                 const struct fh_batch_options *options, struct fh_error *err);
