/* SPDX-License-Identifier: MIT */
/*
 * Carrying a plan out: every cell is generated, transformed and checked; `concurrency` cells at a time.
 */
#pragma once
#include "eval/results.h"
#include "eval/services.h"

struct fh_eval_memory; /* eval/memory.h */
struct fh_graders;     /* eval/graders.h */

struct fh_eval_run {
	const struct fh_eval_plan *plan;
	/* For fh_eval_cell_run; fh_eval_run makes its own. */
	struct fh_eval_memory *memory;
	struct fh_graders *graders;
	const char *id; /* of the eval */
	struct fh_services *services;
	FH_NULLABLE const volatile int *cancel; /* set to 1: no cell is begun any more, those under way end early */
	/* Called after each cell, from any thread, one call at a time. NULL: none. */
	void (*on_progress)(void *context, size_t done, size_t passed, size_t failed, size_t errors);
	void *context;
};

/* Whatever a cell meets is in its result; a negative code means that nothing could be run. */
int fh_eval_run(const struct fh_eval_run *run, struct fh_eval_results *ret, struct fh_error *err);

/* One cell. -FH_E_CANCELLED: it was not finished, and *ret is untouched; else 0. */
int fh_eval_cell_run(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *ret);
