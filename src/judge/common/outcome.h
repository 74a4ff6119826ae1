/* SPDX-License-Identifier: MIT */
/* The outcome of judging one program: the verdict, how far it can be trusted, and the runs that it was read from. */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"
#include "judge/common/verdict.h"
#include "judge/common/seed.h"

/* How far a verdict can be trusted: "split" (judge/split/split.h); "outside": by output, compared outside the sandbox;
 * or "in-process": the test ran in the candidate's process. */
#define FH_INTEGRITY_SPLIT "split"
#define FH_INTEGRITY_OUTSIDE "outside"
#define FH_INTEGRITY_IN_PROCESS "in-process"

struct fh_judge_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason; /* UTF-8; "" if passed */
	/* the candidate's run, without the driver's message; NULL: nothing was run */
	FH_OWN FH_NULLABLE struct fh_result *run;
	FH_OWN FH_NULLABLE struct fh_result *judge; /* if split: the run of the judge's process */
	const char *integrity;                      /* FH_INTEGRITY_… */
	/* seed for the judge's side, which repeats the result; "": the test uses no randomness */
	char seed[FH_SEED_MAX + 1];
	/* Time limits in ms, if they are raised above the settings' (fh_judge_time_factor); else 0. */
	uint64_t raised_cpu_time, raised_wall_time;
	/* If each sample is judged several times (fh_batch_run): the number of times, the number of passes, and whether the
	 * verdicts differed. The outcome is that of the first failure. repeats 0: judged once. */
	unsigned repeats, repeats_passed;
	bool flaky;
};
void fh_judge_outcome_release(struct fh_judge_outcome *o);
