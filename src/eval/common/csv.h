/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180, and LF line ends; a UTF-8 byte order mark is skipped), whole, as an array of arrays of strings. */
#pragma once
#include "json/json.h"

/* Drops blank lines. Errors (an unclosed quote, text after a closing quote) name the file `name`. New reference or
 * NULL. */
FH_OWN json_t *fh_csv_parse(struct fh_str text, char delimiter, const char *name, struct fh_error *err);
/* As fh_csv_parse, for a table: a row with another number of cells than the first is an error that names its line. */
FH_OWN json_t *fh_csv_table(struct fh_str text, char delimiter, const char *name, struct fh_error *err);
