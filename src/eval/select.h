/* SPDX-License-Identifier: MIT */
/* Assertions that compare the columns of a row: select-best, which asks a model, and max-score. They are judged when
 * every cell of the row is done, select-best first. */
#pragma once
#include "eval/run.h"

void fh_eval_select(const struct fh_eval_run *run, struct fh_eval_results *r);
