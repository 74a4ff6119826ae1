/* SPDX-License-Identifier: MIT */
/*
 * Stores an eval while it runs: rows are written as they finish, and an interrupted eval continues from there.
 *
 * Cells are matched by content (eval/content.h): a stored cell whose hash equals that of a cell of the plan is kept,
 * even if its test has moved; all others are removed.
 */
#pragma once
#include "eval/results.h"
#include "store/writer.h"

struct fh_eval_kept;

enum fh_eval_again {
	FH_EVAL_AGAIN_MISSING, /* run only cells that the store lacks */
	FH_EVAL_AGAIN_ERRORS,  /* run missing cells, and those that ended in an error */
	FH_EVAL_AGAIN_FAILED,  /* run missing cells, and all that did not pass */
};

struct fh_eval_keep {
	const char *id;
	int64_t created_ms;
	FH_NULLABLE const char *description;
	const json_t *config; /* the config, without secrets */
	const json_t *options, *columns, *vars, *tags;
	bool resume;
	enum fh_eval_again again;
	void (*on_done)(void *context, uint64_t done);
	void (*on_wish)(void *context, enum fh_store_wish wish);
	void *context;
};

int fh_eval_kept_begin(const struct fh_eval_plan *plan, const struct fh_eval_keep *keep, struct fh_eval_kept **ret,
                       struct fh_error *err);
size_t fh_eval_kept_count(const struct fh_eval_kept *k); /* cells that need not run */
/* The stored row of a cell that need not run, with its indices updated; NULL: the cell has to run. New reference. */
FH_OWN json_t *fh_eval_kept_row(struct fh_eval_kept *k, size_t cell);
/* Writes the row of a cell. Not thread-safe. */
int fh_eval_kept_put(struct fh_eval_kept *k, size_t cell, const struct fh_eval_result *result, struct fh_str row,
                     struct fh_error *err);
/* Brings all rows to the disk and records how the eval ended. Always frees k. */
int fh_eval_kept_end(struct fh_eval_kept *k, const struct fh_eval_results *results, struct fh_error *err);
void fh_eval_kept_close(FH_NULLABLE struct fh_eval_kept *k);
