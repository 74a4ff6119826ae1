/* SPDX-License-Identifier: MIT */
/* One result of an eval in detail, from its results file. */
#pragma once
#include "base/error.h"
#include "json/json.h"

/* The row at `index` (from 0) of a .json results file, to stdout: what was asked, what was answered, and what each
 * assertion found. */
int fh_eval_show(const char *path, uint64_t index, bool color, struct fh_error *err);
/* A row in promptfoo's form. */
void fh_eval_show_row(const json_t *row, uint64_t index, bool color);
