/* SPDX-License-Identifier: MIT */
/*
 * The rows of an eval as they were written (a line of JSON for each cell, docs/eval.md), kept until the outputs are
 * made: the first few megabytes in memory, the rest in a file without a name in TMPDIR. What cannot be written there
 * stays in memory, so that no row is lost. Not for several threads at once.
 */
#pragma once
#include "base/buf.h"

struct fh_eval_rows;

FH_OWN struct fh_eval_rows *fh_eval_rows_new(size_t count);
void fh_eval_rows_free(FH_NULLABLE struct fh_eval_rows *r);
/* Each cell once. */
void fh_eval_rows_put(struct fh_eval_rows *r, size_t cell, struct fh_str text);
/* Replaces what is in `out`. False: the cell has no row, or the file cannot be read. */
bool fh_eval_rows_get(struct fh_eval_rows *r, size_t cell, struct fh_buf *out);
