/* SPDX-License-Identifier: MIT */
/* Runs the plan of `fumehood eval`: shows progress on the terminal, writes rows into the store and the files, and
 * prints the report at the end. */
#pragma once
#include "cli/evals/eval_options.h"
#include "cli/evals/eval_watch.h"
#include "eval/services/services.h"
#include "eval/results/kept.h"

/* Freeing an eval's memory would take a tenth of its time, and the process is about to end; builds that search for
 * leaks free it. */
#ifdef __SANITIZE_ADDRESS__
#define FH_FREE_AT_END 1
#else
#define FH_FREE_AT_END 0
#endif

struct fh_eval_session {
	const struct fh_eval_options *options;
	const struct fh_eval_plan *plan;
	struct fh_services *services;
	const struct fh_opt_list *paths; /* files for the results, NULL-terminated */
	const json_t *argv;              /* command line that began the eval; it is stored to resume it */
	FH_NULLABLE const char *resume;  /* id of the stored eval to continue; NULL: a new one */
	int64_t created_ms;              /* when that eval was created */
	FH_NULLABLE const json_t *cell;  /* the plan is this one cell of another eval (eval/one_cell.h) */
	enum fh_eval_again again;
	const struct fh_eval_report *report;
};

int fh_eval_session_run(const struct fh_eval_session *s, int *ret_status, struct fh_error *err);
/* `fumehood eval --attach`: makes a request to a running eval, or shows its progress. */
int fh_eval_attach(const struct fh_eval_options *o, int *ret_status, struct fh_error *err);
