/* SPDX-License-Identifier: MIT */
/* Where the data of an output comes from: an eval that has just run, or one of the store. */
#pragma once
#include "eval/outputs/output.h"
#include "eval/results.h"
#include "store/store.h"

struct fh_output_source {
	struct fh_output_data data;
	/* What data points to. */
	char *id;
	json_t *config, *columns, *vars, *tokens, *options;
	const struct fh_eval_plan *plan;
	struct fh_eval_results *results;
	struct fh_store *store;
	int64_t eval;
	enum fh_store_kind kind; /* of the eval of the store */
};
void fh_output_source_release(struct fh_output_source *s);

/* [{raw, id, label, provider, config?, metrics?}], a column each; `metrics` as in struct fh_eval_results. New
 * reference. */
FH_OWN json_t *fh_output_columns(const struct fh_eval_plan *plan, FH_NULLABLE const json_t *metrics);
/* The config as it is written: redacted, with description and outputPath. New reference. */
FH_OWN json_t *fh_output_config(const struct fh_eval_plan *plan, FH_NULLABLE const char *description,
                                FH_NULLABLE const char *const *paths);
FH_OWN json_t *fh_output_vars(const struct fh_eval_plan *plan);

/* All borrowed, until the source is released. */
void fh_output_source_of_results(const struct fh_eval_plan *plan, struct fh_eval_results *results,
                                 FH_NULLABLE const char *description, FH_NULLABLE const char *const *paths,
                                 struct fh_output_source *ret);
int fh_output_source_of_store(struct fh_store *s, const struct fh_store_eval *eval, struct fh_output_source *ret,
                              struct fh_error *err);
