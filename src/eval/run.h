/* SPDX-License-Identifier: MIT */
/*
 * Runs a plan: generates, transforms and checks every cell, `concurrency` cells at a time.
 */
#pragma once
#include "eval/services/services.h"
#include "eval/results/results.h"
#include "sink/sink.h"

struct fh_eval_memory; /* eval/memory.h */
struct fh_graders;     /* eval/checking/graders.h */

struct fh_eval_run {
	const struct fh_eval_plan *plan;
	/* Set by fh_eval_run; for fh_eval_cell_run the caller sets them. */
	struct fh_eval_memory *memory;
	struct fh_graders *graders;
	const char *id;          /* id of the eval (fh_store_id_make) */
	int64_t started_wall_ms; /* when the eval was first begun, even if it is continued now */
	struct fh_services *services;
	FH_NULLABLE const volatile int *cancel; /* set to 1: no more cells are begun, running cells are aborted */
	FH_NULLABLE const volatile int *stop;   /* set to 1: no more cells are begun, running cells finish */
	FH_NULLABLE const volatile int *pause;  /* while it is 1, no cells are begun */
	/* Where finished rows go, and from where those of an earlier run are recalled. If one fails, no more cells are
	 * begun, and the error becomes sink_error of the results. NULL: rows are only kept in the results. */
	FH_NULLABLE const struct fh_sinks *sinks;
	/* Called after each cell, from any thread, one call at a time. NULL: not called. */
	void (*on_progress)(void *context, const struct fh_eval_results *so_far);
	void *context;
};

/* Errors of single cells are in their results; a negative code means that the eval could not run at all. */
int fh_eval_run(const struct fh_eval_run *run, struct fh_eval_results *ret, struct fh_error *err);

/* Runs one cell. Returns 0, or -FH_E_CANCELLED: the cell was aborted, and *ret is untouched. */
int fh_eval_cell_run(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *ret);
/* Restores what an earlier finished cell leaves for later ones (eval/memory.h). */
void fh_eval_cell_recall(const struct fh_eval_run *run, const struct fh_eval_cell *cell, struct fh_eval_result *result);
