/* SPDX-License-Identifier: MIT */
/* Going on with an eval of the store: `fumehood eval --resume`, `fumehood retry`. */
#pragma once
#include "cli/evals/eval_options.h"
#include "json/json.h"

struct fh_eval_earlier {
	char *id;
	int64_t created_ms;
	json_t *argv; /* of the command that began it */
	char *cwd;
};
/* `name`: an id, its beginning, or "latest". FH_E_ARGUMENT for one that was imported, or that is no eval. */
int fh_eval_earlier_find(const char *name, struct fh_eval_earlier *ret, struct fh_error *err);
void fh_eval_earlier_release(struct fh_eval_earlier *e);
/* Goes to the folder where it was begun and takes its options; what `given` says of outputs and of how many at a time
 * counts over them. The options point into `e` and `given`. */
int fh_eval_earlier_options(const struct fh_eval_earlier *e, const struct fh_eval_options *given,
                            struct fh_eval_options *ret, struct fh_error *err);

/* The command line of `fumehood retry`, as the options of `fumehood eval`. */
int fh_eval_retry_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err);
