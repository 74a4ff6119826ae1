/* SPDX-License-Identifier: MIT */
/* Cells of the store as the page shows them. */
#pragma once
#include "json/json.h"
#include "store/rows.h"

/* A row of a table: {row, description, vars: [texts], cells: [cell or null, …]}, with texts cut to what a table shows.
 * `cells` are those of one row; `vars` names the variables that have a column each. */
FH_OWN json_t *fh_view_row_json(enum fh_store_kind kind, const struct fh_store_cell *cells, size_t count,
                                size_t columns, const json_t *vars);
/* One cell with all that is stored of it: {row, column, …, rating, data}. */
FH_OWN json_t *fh_view_cell_json(const struct fh_store_cell *c);
/* The answer of a cell's data, as text: an eval's output, a judgement's program, a run's output. Borrowed from data
 * where it is a text, else made: free *ret_made. */
const char *fh_view_answer(enum fh_store_kind kind, const json_t *data, char **ret_made);
