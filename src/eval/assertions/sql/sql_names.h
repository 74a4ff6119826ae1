/* SPDX-License-Identifier: MIT */
/*
 * The tables and columns that SQL statements name, in the form of node-sql-parser, which promptfoo's allowedTables and
 * allowedColumns are compared with: "select::null::t" (statement, schema, table), "select::t::a" (statement, table,
 * column; null when the statement does not say which), "(.*)" for all columns.
 *
 * The statements have to be well written (sql_parser.h): they are read by clauses, not parsed. Of a text that is not
 * SQL the lists mean nothing.
 */
#pragma once
#include "json/json.h"

/* Appends each name once to `tables` and `columns`. */
void fh_sql_names(const char *sql, json_t *tables, json_t *columns);
