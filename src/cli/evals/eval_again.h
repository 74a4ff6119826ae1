/* SPDX-License-Identifier: MIT */
/* Continues an eval of the store: `fumehood eval --resume`, `fumehood retry`. */
#pragma once
#include "cli/evals/eval_options.h"
#include "json/json.h"

struct fh_eval_earlier {
	char *id;
	int64_t created_ms;
	json_t *argv; /* command line that began the eval */
	char *cwd;
};
/* `name`: an id, the beginning of one, or "latest". FH_E_ARGUMENT for an imported eval, or an entry that is no eval. */
int fh_eval_earlier_find(const char *name, struct fh_eval_earlier *ret, struct fh_error *err);
void fh_eval_earlier_release(struct fh_eval_earlier *e);
/* Changes to the folder in which the eval was begun and takes its options, of which `given` overrides outputs and
 * concurrency. The options point into `e` and `given`. */
int fh_eval_earlier_options(const struct fh_eval_earlier *e, const struct fh_eval_options *given,
                            struct fh_eval_options *ret, struct fh_error *err);
