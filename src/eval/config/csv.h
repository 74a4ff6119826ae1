/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180, and LF line ends; a UTF-8 byte order mark is skipped), whole, as an array of arrays of strings. */
#pragma once
#include "json/json.h"

/* Blank lines are dropped. `name` is the file for errors: an unclosed quote, text after a closing one. New reference
 * or NULL. */
FH_OWN json_t *fh_csv_parse(struct fh_str text, char delimiter, const char *name, struct fh_error *err);
