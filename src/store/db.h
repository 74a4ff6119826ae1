/* SPDX-License-Identifier: MIT */
/*
 * The store's database: wraps the few functions of SQLite that src/store needs; no other code uses SQLite. They are
 * implemented in db_sqlite.c; db_none.c replaces it in the static program, which cannot have SQLite (opening then
 * fails with FH_E_UNAVAILABLE).
 *
 * A struct fh_db is one connection, which one thread uses at a time. It caches one prepared statement for each query.
 * Values are bound by a format with one letter for each `?` of the query:
 *
 *     i  int64_t      r  double      s  const char * (NULL: null)      b  struct fh_str (p NULL: null)
 *
 * Texts are borrowed until the statement is bound again.
 */
#pragma once
#include "base/error.h"

struct fh_db;
struct fh_db_statement;

/* Opens the file, or creates it (mode 0600). Writers wait up to ten seconds for each other. `read_only`: the file has
 * to exist and is not changed. */
int fh_db_open(const char *path, bool read_only, struct fh_db **ret, struct fh_error *err);
void fh_db_close(struct fh_db *db); /* NULL is fine */
/* To be called before the first change, when it is known whose file it is: it changes how the file is journaled. */
int fh_db_begin_writing(struct fh_db *db, struct fh_error *err);

/* Whether the log (the file "-wal") is empty: no commit is in it, and none was before it was made. Nobody changes that
 * while this connection is in a write transaction. */
bool fh_db_log_is_empty(const struct fh_db *db);

/* Runs every statement of `sql`, in order, without bound values. */
int fh_db_script(struct fh_db *db, const char *sql, struct fh_error *err);
/* Binds values to a statement that returns no rows, and runs it. */
int fh_db_do(struct fh_db *db, const char *sql, struct fh_error *err, const char *format, ...);
/* Binds values to a statement; fh_db_next() then returns its rows. `sql` has to live as long as the connection: the
 * prepared statement is cached by its address. */
int fh_db_ask(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err, const char *format,
              ...);
/* As fh_db_ask, for SQL that is used only once; fh_db_done() frees the statement. */
int fh_db_ask_once(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err);
/* Binds value `at` (from 1) of a statement from fh_db_ask_once; the text is copied. */
void fh_db_bind_int(struct fh_db_statement *s, int at, int64_t value);
void fh_db_bind_real(struct fh_db_statement *s, int at, double value);
void fh_db_bind_text(struct fh_db_statement *s, int at, struct fh_str value);

/* 1: there is a row; 0: there are no more rows; negative: an error. */
int fh_db_next(struct fh_db_statement *s, struct fh_error *err);
/* Ends a query, even before all of its rows were read. NULL is fine. */
void fh_db_done(struct fh_db_statement *s);

int64_t fh_db_int(const struct fh_db_statement *s, int column); /* columns from 0 */
double fh_db_real(const struct fh_db_statement *s, int column);
bool fh_db_is_null(const struct fh_db_statement *s, int column);
/* Valid until the next fh_db_next or fh_db_done; empty for null. */
struct fh_str fh_db_text(const struct fh_db_statement *s, int column);

int64_t fh_db_last_id(const struct fh_db *db); /* rowid of the last inserted row */
int64_t fh_db_changes(const struct fh_db *db); /* rows that the last statement changed */
