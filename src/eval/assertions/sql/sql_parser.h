/* SPDX-License-Identifier: MIT */
/* Parses SQL with SQLite's parser (sql_parser.c); sql_parser_none.c takes its place in programs built without
 * SQLite. */
#pragma once
#include "json/json.h"

bool fh_sql_available(void);
/* Whether the statements are well written. The tables that they name are appended to `tables`. Nothing is executed. */
bool fh_sql_parses(const char *sql, json_t *tables);
