/* SPDX-License-Identifier: MIT */
/* Shows one result of an eval in detail, from its results file. */
#pragma once
#include "base/error.h"
#include "json/json.h"

/* Prints the row at `index` (from 0) of a .json results file: the prompt, the answer, and the result of each
 * assertion. */
int fh_eval_show(const char *path, uint64_t index, bool color, struct fh_error *err);
/* Prints a row in promptfoo's form as fh_eval_show does. */
void fh_eval_show_row(const json_t *row, uint64_t index, bool color);
