/* SPDX-License-Identifier: MIT */
/* Running the plan of `fumehood eval`: with progress on the terminal, rows into the store and the files, and the report
 * at the end. */
#pragma once
#include "cli/evals/eval_options.h"
#include "eval/grading/services.h"
#include "eval/kept.h"

struct fh_eval_session {
	const struct fh_eval_options *options;
	const struct fh_eval_plan *plan;
	struct fh_services *services;
	const struct fh_opt_list *paths; /* NULL-terminated: files that results are written to */
	const json_t *argv;              /* of the command that began the eval: how it is begun again */
	FH_NULLABLE const char *resume;  /* id of the eval of the store to go on with; NULL: a new one */
	int64_t created_ms;              /* of that eval */
	enum fh_eval_again again;
};

int fh_eval_session_run(const struct fh_eval_session *s, int *ret_status, struct fh_error *err);
/* How the eval at `fumehood eval --attach` is asked for something, or watched. */
int fh_eval_attach(const struct fh_eval_options *o, int *ret_status, struct fh_error *err);
