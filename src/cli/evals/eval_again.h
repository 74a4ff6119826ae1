/* SPDX-License-Identifier: MIT */
/* Continues an eval of the store: `fumehood eval --resume`, `fumehood retry`; or runs one of its cells again. */
#pragma once
#include "cli/evals/eval_options.h"
#include "json/json.h"

struct fh_eval_earlier {
	char *id;
	int64_t created_ms;
	json_t *argv; /* command line that began the eval */
	char *cwd;
	char *description; /* for an eval of one cell: its own; NULL: the config's */
	json_t *cell;      /* the one cell that it is about (eval/one_cell.h); NULL: it has all cells of its config */
};
/* `name`: an id, the beginning of one, or "latest". FH_E_ARGUMENT for an imported eval, or an entry that is no eval. */
int fh_eval_earlier_find(const char *name, struct fh_eval_earlier *ret, struct fh_error *err);
/* Makes `e` the start of a new eval for one of its cells, as `given` says: the cell and its prompt. */
int fh_eval_earlier_take_cell(struct fh_eval_earlier *e, const struct fh_eval_options *given, struct fh_error *err);
void fh_eval_earlier_release(struct fh_eval_earlier *e);
/* Changes to the folder in which the eval was begun and takes its options, of which `given` overrides outputs and
 * concurrency. The options point into `e` and `given`. */
int fh_eval_earlier_options(const struct fh_eval_earlier *e, const struct fh_eval_options *given,
                            struct fh_eval_options *ret, struct fh_error *err);
