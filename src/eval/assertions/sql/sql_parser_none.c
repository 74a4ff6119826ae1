/* SPDX-License-Identifier: MIT */
#include "eval/assertions/sql/sql_parser.h"

bool fh_sql_available(void)
{
	return false;
}

bool fh_sql_parses(const char *sql, json_t *tables)
{
	return false;
}
