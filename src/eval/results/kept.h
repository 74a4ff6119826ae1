/* SPDX-License-Identifier: MIT */
/*
 * An eval in the store, as a sink of its rows (sink/sink.h): rows are written as they finish, and an interrupted eval
 * continues from there.
 *
 * Cells are matched by content (eval/plan/content.h): a stored cell whose hash equals that of a cell of the plan is
 * kept, even if its test has moved; all others are removed.
 */
#pragma once
#include "eval/results/results.h"
#include "sink/sink.h"
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
/* The sink that the functions above prepared. Closing it frees k. */
struct fh_sink fh_eval_kept_sink(struct fh_eval_kept *k);
