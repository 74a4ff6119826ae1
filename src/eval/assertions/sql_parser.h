/* SPDX-License-Identifier: MIT */
/* SQL by SQLite's parser (sql_parser.c), or not at all (sql_parser_none.c, for programs that cannot have it). */
#pragma once
#include "json/json.h"

bool fh_sql_available(void);
/* Whether the statements are well written. The tables that they name are appended to `tables`. Nothing is executed. */
bool fh_sql_parses(const char *sql, json_t *tables);
