/* SPDX-License-Identifier: MIT */
/* The data of an output, from an eval that has just run or from the store. */
#pragma once
#include "eval/outputs/output.h"
#include "eval/results/results.h"
#include "store/store.h"

struct fh_output_source {
	struct fh_output_data data;
	/* Owned; `data` points to them. */
	char *id;
	json_t *config, *columns, *vars, *tokens, *options;
	const struct fh_eval_plan *plan;
	struct fh_eval_results *results;
	struct fh_store *store;
	int64_t eval;
	enum fh_store_kind kind; /* for a stored eval: its kind */
};
void fh_output_source_release(struct fh_output_source *s);

/* [{raw, id, label, provider, config?, metrics?}], one for each column; `metrics` as in struct fh_eval_results. New
 * reference. */
FH_OWN json_t *fh_output_columns(const struct fh_eval_plan *plan, FH_NULLABLE const json_t *metrics);
/* The config as outputs show it: redacted, with description and outputPath. New reference. */
FH_OWN json_t *fh_output_config(const struct fh_eval_plan *plan, FH_NULLABLE const char *description,
                                FH_NULLABLE const char *const *paths);
FH_OWN json_t *fh_output_vars(const struct fh_eval_plan *plan, FH_NULLABLE const struct fh_eval_results *results);

/* Plan and results are borrowed until the source is released; `config` is from fh_output_config. */
void fh_output_source_of_results(const struct fh_eval_plan *plan, struct fh_eval_results *results, json_t *config,
                                 struct fh_output_source *ret);
int fh_output_source_of_store(struct fh_store *s, const struct fh_store_eval *eval, struct fh_output_source *ret,
                              struct fh_error *err);
