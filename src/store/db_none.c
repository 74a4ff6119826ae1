/* SPDX-License-Identifier: MIT */
#include "store/db.h"

/* For the static program, which has no SQLite and therefore no store. */

int fh_db_open(const char *path, bool read_only, struct fh_db **ret, struct fh_error *err)
{
	return fh_error_set(err, FH_E_UNAVAILABLE, "this build of fumehood has no store");
}

int fh_db_begin_writing(struct fh_db *db, struct fh_error *err)
{
	return -FH_E_UNAVAILABLE;
}

void fh_db_close(struct fh_db *db)
{
}

bool fh_db_log_is_empty(const struct fh_db *db)
{
	return false;
}

int fh_db_script(struct fh_db *db, const char *sql, struct fh_error *err)
{
	return -FH_E_UNAVAILABLE;
}

int fh_db_do(struct fh_db *db, const char *sql, struct fh_error *err, const char *format, ...)
{
	return -FH_E_UNAVAILABLE;
}

int fh_db_ask(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err, const char *format,
              ...)
{
	return -FH_E_UNAVAILABLE;
}

int fh_db_ask_once(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err)
{
	return -FH_E_UNAVAILABLE;
}

void fh_db_bind_int(struct fh_db_statement *s, int at, int64_t value)
{
}

void fh_db_bind_real(struct fh_db_statement *s, int at, double value)
{
}

void fh_db_bind_text(struct fh_db_statement *s, int at, struct fh_str value)
{
}

int fh_db_next(struct fh_db_statement *s, struct fh_error *err)
{
	return -FH_E_UNAVAILABLE;
}

void fh_db_done(struct fh_db_statement *s)
{
}

int64_t fh_db_int(const struct fh_db_statement *s, int column)
{
	return 0;
}

double fh_db_real(const struct fh_db_statement *s, int column)
{
	return 0;
}

bool fh_db_is_null(const struct fh_db_statement *s, int column)
{
	return true;
}

struct fh_str fh_db_text(const struct fh_db_statement *s, int column)
{
	return fh_str("");
}

int64_t fh_db_last_id(const struct fh_db *db)
{
	return 0;
}

int64_t fh_db_changes(const struct fh_db *db)
{
	return 0;
}
