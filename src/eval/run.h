/* SPDX-License-Identifier: MIT */
/*
 * Carrying a plan out: every cell is generated, transformed and checked; `concurrency` cells at a time.
 */
#pragma once
#include "eval/grading/services.h"
#include "eval/results.h"

struct fh_eval_memory; /* eval/memory.h */
struct fh_graders;     /* eval/grading/graders.h */

struct fh_eval_run {
	const struct fh_eval_plan *plan;
	/* For fh_eval_cell_run; fh_eval_run makes its own. */
	struct fh_eval_memory *memory;
	struct fh_graders *graders;
	const char *id;          /* of the eval: fh_store_id_make */
	int64_t started_wall_ms; /* when it was begun, for the first time */
	struct fh_services *services;
	FH_NULLABLE const volatile int *cancel; /* set to 1: no cell is begun any more, those under way end early */
	FH_NULLABLE const volatile int *stop;   /* set to 1: no cell is begun any more, those under way are finished */
	FH_NULLABLE const volatile int *pause;  /* while it is 1 no cell is begun */
	/* The row of a cell that was done before (a new reference), or NULL: it is run. NULL: all are run. */
	json_t *(*before)(void *context, size_t cell);
	/* A cell is done, and this is its row; `again`: it was done before. From any thread, one call at a time. Negative:
	 * no cell is begun any more, and the error is the results' sink_error. NULL: rows stay in the results only. */
	int (*on_row)(void *context, size_t cell, const struct fh_eval_result *result, struct fh_str row, bool again,
	              struct fh_error *err);
	/* Called after each cell, from any thread, one call at a time. NULL: none. */
	void (*on_progress)(void *context, const struct fh_eval_results *so_far);
	void *context;
};

/* Whatever a cell meets is in its result; a negative code means that nothing could be run. */
int fh_eval_run(const struct fh_eval_run *run, struct fh_eval_results *ret, struct fh_error *err);

/* One cell. -FH_E_CANCELLED: it was not finished, and *ret is untouched; else 0. */
int fh_eval_cell_run(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *ret);
/* What a cell that was done before leaves for those after it (eval/memory.h). */
void fh_eval_cell_recall(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *result);
