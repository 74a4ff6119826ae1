/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a data set can be judged on this host, before any sample is. For each task of the samples, the data
 * set's own reference has to pass, and a stub, which returns nothing, has to fail. The check also finds the mode in
 * which a task is judged: split; split with changed arguments sent back, if the reference needs that; in one process,
 * if it passes in no other mode. If the reference takes more than a quarter of the CPU time limit, the task's limit is
 * multiplied by 2, 4, … up to 32, so that verdicts do not depend on the machine's speed.
 *
 * Tasks that passed are remembered below $XDG_CACHE_HOME/fumehood/self-check (or ~/.cache) by a hash of everything that
 * this depends on: task, drivers, interpreter's version, limits, our version. Tasks that failed are checked again each
 * time.
 */
#pragma once
#include "judge/session/session.h"

struct fh_self_check_failure {
	const struct fh_judge_problem *problem;
	bool stub; /* the stub did not fail; false: the reference did not pass */
	enum fh_verdict verdict;
	FH_OWN char *reason;
};

struct fh_self_check {
	size_t tasks, references;   /* tasks to check; how many of them have a reference */
	size_t remembered;          /* tasks not checked because an earlier run found that they pass */
	size_t changes, in_process; /* tasks by mode */
	size_t raised;              /* tasks with raised time limits */
	size_t failed;              /* tasks with one or two failures */
	struct fh_self_check_failure *failures;
	size_t failure_count, capacity;
};
void fh_self_check_release(struct fh_self_check *c);

/* Checks the tasks and sets the mode of each in the session. Returns 0 even if tasks failed; -FH_E_CANCELLED, or an
 * error that prevents any judging. jobs: number of threads; 0: one for each processor that we may use. */
int fh_self_check_run(struct fh_judge_session *session, const struct fh_judge_problems *problems,
                      const struct fh_judge_samples *samples, unsigned jobs, struct fh_self_check *ret,
                      struct fh_error *err);
