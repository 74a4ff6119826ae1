/* SPDX-License-Identifier: MIT */
/*
 * An eval in the store while it runs: rows go there as they finish, and an eval that was interrupted goes on from
 * there.
 *
 * Which cells need not run again is decided by content (eval/content.h): a cell of the store whose hash is that of a
 * cell of the plan is kept, wherever the test stands now; every other is removed.
 */
#pragma once
#include "eval/results.h"
#include "store/writer.h"

struct fh_eval_kept;

enum fh_eval_again {
	FH_EVAL_AGAIN_MISSING, /* only what is not there */
	FH_EVAL_AGAIN_ERRORS,  /* and what met an error */
	FH_EVAL_AGAIN_FAILED,  /* and what did not pass, for whatever reason */
};

struct fh_eval_keep {
	const char *id;
	int64_t created_ms;
	FH_NULLABLE const char *description;
	const json_t *config; /* redacted */
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
/* The row of a cell that need not run, its place put right; NULL: it has to. New reference. */
FH_OWN json_t *fh_eval_kept_row(struct fh_eval_kept *k, size_t cell);
/* One call at a time. */
int fh_eval_kept_put(struct fh_eval_kept *k, size_t cell, const struct fh_eval_result *result, struct fh_str row,
                     struct fh_error *err);
/* What is done is on the disk; notes how the eval ended. Frees k in every case. */
int fh_eval_kept_end(struct fh_eval_kept *k, const struct fh_eval_results *results, struct fh_error *err);
void fh_eval_kept_close(FH_NULLABLE struct fh_eval_kept *k);
