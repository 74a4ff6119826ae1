/* SPDX-License-Identifier: MIT */
/*
 * Stores one run. The program fumehood loads no SQLite: it starts fumehood-store as `keep` and writes to its standard
 * input one line of JSON about the run,
 *
 *     {description, created_ms, duration_ms, argv, cwd, status, language, name, success, failure, latency_ms}
 *
 * followed by the data of the cell: the result of `fumehood run --json` with `code`, `language` and the plan's `argv`.
 * When the run is on the disk, fumehood-store answers with its id in the store.
 */
#pragma once
#include "base/error.h"
#include "fumehood/sandbox.h"

struct fh_run_keep {
	FH_NULLABLE const char *description;
	int argc;
	char **argv;        /* the command line of the run */
	char *program;      /* path of fumehood-store */
	int64_t created_ms; /* when the run began */
};

/* Called before the run; fails when this installation has no store. */
int fh_run_keep_begin(struct fh_run_keep *k, struct fh_error *err);
/* Stores the run and prints its id on stderr. */
int fh_run_keep(const struct fh_run_keep *k, const struct fh_plan *plan, const struct fh_result *result,
                struct fh_error *err);
void fh_run_keep_release(struct fh_run_keep *k);
