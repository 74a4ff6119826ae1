/* SPDX-License-Identifier: MIT */
/* The databases whose SQL is told apart. */
#pragma once

enum {
	FH_SQL_MYSQL = 1 << 0,
	FH_SQL_MARIADB = 1 << 1,
	FH_SQL_POSTGRESQL = 1 << 2,
	FH_SQL_SQLITE = 1 << 3,
	FH_SQL_BIGQUERY = 1 << 4,
	FH_SQL_TRANSACTSQL = 1 << 5,
	FH_SQL_SNOWFLAKE = 1 << 6,
	FH_SQL_REDSHIFT = 1 << 7,
};
