/* SPDX-License-Identifier: MIT */
/*
 * Whether a data set can be judged here, seen before any sample is: of each task that the samples name, the data set's
 * own reference has to pass, and a stub, which answers nothing, has to fail. It also finds how a task is to be judged:
 * split; split with changes of arguments coming back, where the reference needs that; in one process, where it passes
 * in no other way. And it gives a task whose reference takes more than a quarter of the CPU time limit a larger one, so
 * that no verdict hangs on how fast the machine is: twice the limit, four times …, up to 32 times.
 *
 * What held is remembered below $XDG_CACHE_HOME/fumehood/self-check (or ~/.cache) under a hash of everything that it
 * depends on: task, drivers, interpreter's version, limits, our version. What did not hold is tried again each time.
 */
#pragma once
#include "judge/session.h"

struct fh_self_check_failure {
	const struct fh_judge_problem *problem;
	bool stub; /* the stub did not fail; else the reference did not pass */
	enum fh_verdict verdict;
	FH_OWN char *reason;
};

struct fh_self_check {
	size_t tasks, references;   /* that were to be checked; of these with a reference */
	size_t remembered;          /* from an earlier run */
	size_t changes, in_process; /* tasks by mode */
	size_t raised;              /* tasks whose time limits are raised */
	size_t failed;              /* tasks with a failure, or two */
	struct fh_self_check_failure *failures;
	size_t failure_count, capacity;
};
void fh_self_check_release(struct fh_self_check *c);

/* Sets the mode of each task in the session. 0 also when tasks failed; -FH_E_CANCELLED, or what keeps anything from
 * being judged. jobs: threads; 0: as many as there are processors for us. */
int fh_self_check_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                      const struct fh_judge_samples *samples, unsigned jobs, struct fh_self_check *ret,
                      struct fh_error *err);
