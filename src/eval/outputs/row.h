/* SPDX-License-Identifier: MIT */
/* A cell's result as a row in promptfoo's form. */
#pragma once
#include "eval/results/results.h"

/* What no row may show: values of the environment's variables whose names tell that they are secrets. */
struct fh_output_secrets;
FH_OWN struct fh_output_secrets *fh_output_secrets_find(void);
void fh_output_secrets_free(FH_NULLABLE struct fh_output_secrets *secrets);
/* A test without secrets, and without the values of keys such as apiKey beside its variables. New reference. */
FH_OWN json_t *fh_output_redact_test(const struct fh_output_secrets *secrets, const json_t *test);
/* A grade whose assertions are without them. New reference. */
FH_OWN json_t *fh_output_redact_grade(const struct fh_output_secrets *secrets, const json_t *grade);

/* Appends one line of JSON, without a line end. `no_tokens` as in struct fh_eval_results. */
void fh_output_row(const struct fh_eval_plan *plan, size_t cell, const struct fh_eval_result *result,
                   const struct fh_output_secrets *secrets, char *const no_tokens[2], struct fh_buf *out);
