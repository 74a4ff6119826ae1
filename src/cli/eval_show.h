/* SPDX-License-Identifier: MIT */
/* One result of an eval in detail, from its results file. */
#pragma once
#include "base/error.h"

/* The row at `index` (from 0) of a .json results file, to stdout: what was asked, what was answered, and what each
 * assertion found. */
int fh_eval_show(const char *path, uint64_t index, bool color, struct fh_error *err);
