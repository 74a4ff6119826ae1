/* SPDX-License-Identifier: MIT */
/*
 * `fumehood eval --watch`: runs the eval, waits until a file that it was made of changes, and runs it again: what has
 * not changed is kept, as with --resume.
 *
 * Each run is a child process, which reports to the watching one, in a file in memory, which files it read and the id
 * under which the store has the eval. So a run may fail in any way, and leaves nothing behind.
 */
#pragma once
#include "cli/evals/eval_options.h"

/* Where a run reports to; fd < 0: nobody watches. */
struct fh_eval_report {
	int fd;
};
/* From here to the end all files that the process reads are reported. */
void fh_eval_report_begin(const struct fh_eval_report *r);
/* Reports what else the eval is made of: the scripts that its cells name. `plan` is NULL if none could be made. */
void fh_eval_report_end(const struct fh_eval_report *r, const struct fh_eval_config *config,
                        FH_NULLABLE const struct fh_eval_plan *plan);
void fh_eval_report_id(const struct fh_eval_report *r, const char *id);

/* Runs `run` in a child each time something changed, with the id of the eval to go on with (NULL: begin one). Returns
 * in the watching process with the status of the last run, after Ctrl-C. */
typedef int fh_eval_watched(void *context, const struct fh_eval_report *report, FH_NULLABLE const char *id);
int fh_eval_watch(fh_eval_watched *run, void *context, int *ret_status, struct fh_error *err);
