/* SPDX-License-Identifier: MIT */
/* What the user decides of a judgement. */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

struct fh_judge_settings {
	struct fh_limits limits;
	FH_NULLABLE const char *interpreter; /* only if all problems have the same language */
	bool packages;                       /* makes installed packages visible */
	unsigned repeat;              /* number of times that each sample is judged, to find flaky ones; 0 or 1: once */
	FH_NULLABLE const char *seed; /* for random numbers on the judge's side (judge/common/seed.h); NULL: a new one */
	const volatile int *cancel;   /* set to 1: runs are ended and none is begun; may be NULL */
	FH_NULLABLE const struct fh_client_options *client;
	/* A client to use instead of an engine of the session's own; borrowed, and not replaced if its engine ends. NULL:
	 * none. */
	FH_NULLABLE struct fh_client *shared_client;
	/* Reports progress before the judging ("expected values" and "self-check"), by one thread at a time: `done` of
	 * `total` tasks are finished, beginning with 0. May be NULL. */
	void (*on_step)(void *context, const char *step, size_t done, size_t total);
	void *context;
};
/* Limits of a sample where the user sets none: times in ms, memory in bytes. */
enum { FH_JUDGE_CPU_TIME_DEFAULT = 5000, FH_JUDGE_WALL_TIME_DEFAULT = 20000, FH_JUDGE_MEMORY_DEFAULT = 1 << 30 };
/* Sets these limits, and the others as for `fumehood run`. */
void fh_judge_settings_init(struct fh_judge_settings *s);
