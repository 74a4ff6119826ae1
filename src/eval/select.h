/* SPDX-License-Identifier: MIT */
/* Assertions that compare the columns of a row: max-score. They are judged when every cell of the row is done. */
#pragma once
#include "eval/results.h"

void fh_eval_select(const struct fh_eval_plan *plan, struct fh_eval_results *r);
