/* SPDX-License-Identifier: MIT */
/* Test cases from the rows of a table (CSV, XLSX, a YAML list of maps): each column is a variable, except those that
 * begin with "__". */
#pragma once
#include "json/json.h"

/* rows: lists of cells; the first row is the header, the others become null when their tests are made. *ret is a list
 * of tests. FH_E_CONFIG names file and row. */
int fh_csv_tests(json_t *rows, const char *name, json_t **ret, struct fh_error *err);
/* Makes tests of a list of objects {column: cell}, as fh_csv_tests of rows. */
int fh_csv_maps(const json_t *maps, const char *name, json_t **ret, struct fh_error *err);
/* The assertion that an __expected cell stands for ("contains: x", "python: …", "is-json"); text in no known form is an
 * `equals`. New reference; NULL when a list in the cell is malformed. */
FH_OWN json_t *fh_csv_assertion(const char *cell, struct fh_error *err);
