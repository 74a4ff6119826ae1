/* SPDX-License-Identifier: MIT */
/*
 * The rows of an eval (a line of JSON for each cell, docs/eval.md), kept until the outputs are made: the first few
 * megabytes in memory, the rest in an unnamed file in TMPDIR. Rows that cannot be written there stay in memory, so
 * that none is lost. Not thread-safe.
 */
#pragma once
#include "base/buf.h"

struct fh_eval_rows;

FH_OWN struct fh_eval_rows *fh_eval_rows_new(size_t count);
void fh_eval_rows_free(FH_NULLABLE struct fh_eval_rows *r);
/* Stores the row of a cell; to be called once for each cell. */
void fh_eval_rows_put(struct fh_eval_rows *r, size_t cell, struct fh_str text);
/* Reads a row into `out`, whose content is replaced. False: the cell has no row, or the file cannot be read. */
bool fh_eval_rows_get(struct fh_eval_rows *r, size_t cell, struct fh_buf *out);
