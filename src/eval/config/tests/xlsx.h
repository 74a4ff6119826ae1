/* SPDX-License-Identifier: MIT */
/*
 * Rows of an Excel workbook (.xlsx, Office Open XML: ECMA-376): a zip archive of XML parts. Cells are read as Excel
 * shows them, as far as the file tells: shared, inline and formula strings, numbers, true and false, dates as ISO
 * 8601. Workbooks are untrusted: sizes are checked before anything is unpacked, and entity declarations are refused.
 */
#pragma once
#include "json/json.h"

/* *ret is a list of rows, each a list of strings, in the form of fh_csv_parse. `sheet` is a sheet's name, or its number
 * from 1; NULL: the first sheet. */
int fh_xlsx_rows(const char *path, FH_NULLABLE const char *sheet, json_t **ret, struct fh_error *err);
