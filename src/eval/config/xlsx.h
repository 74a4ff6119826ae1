/* SPDX-License-Identifier: MIT */
/*
 * Rows of an Excel workbook (.xlsx, Office Open XML: ECMA-376): a zip archive of XML parts. Cells are read as they are
 * shown, as far as the file says: shared, inline and formula strings, numbers, true and false, dates as ISO 8601.
 * Archives come from anywhere: sizes are bounded before anything is unpacked, and XML has no entities of its own.
 */
#pragma once
#include "json/json.h"

/* *ret is a list of rows, each a list of strings, as fh_csv_parse gives them. `sheet` is a sheet's name, or its number
 * from 1; NULL: the first. */
int fh_xlsx_rows(const char *path, FH_NULLABLE const char *sheet, json_t **ret, struct fh_error *err);
