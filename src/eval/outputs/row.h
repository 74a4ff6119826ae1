/* SPDX-License-Identifier: MIT */
/* A cell's result as a row in promptfoo's form. */
#pragma once
#include "eval/results/results.h"

/* Appends one line of JSON, without a line end. `no_tokens` as in struct fh_eval_results. */
void fh_output_row(const struct fh_eval_plan *plan, size_t cell, const struct fh_eval_result *result,
                   char *const no_tokens[2], struct fh_buf *out);
