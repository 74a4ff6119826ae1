/* SPDX-License-Identifier: MIT */
/* Cells of the store as JSON for the page. */
#pragma once
#include "json/json.h"
#include "store/rows.h"

/* A row of a table: {row, description, vars: [texts], cells: [cell or null, …]}, with texts cut to the length that
 * tables show. `cells` belong to one row; `vars` lists the variables that have a column. */
FH_OWN json_t *fh_view_row_json(enum fh_store_kind kind, const struct fh_store_cell *cells, size_t count,
                                size_t columns, const json_t *vars);
/* A cell with all that is stored of it: {row, column, …, rating, data}. */
FH_OWN json_t *fh_view_cell_json(const struct fh_store_cell *c);
/* The answer in a cell's data as text: an eval's output, a judgement's program, a run's output. It is borrowed from
 * data if that has a text; otherwise it is made, and the caller frees *ret_made. */
const char *fh_view_answer(enum fh_store_kind kind, const json_t *data, char **ret_made);
