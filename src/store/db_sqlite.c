/* SPDX-License-Identifier: MIT */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/search.h"

#define BUSY_MS 10000
#define KEPT_MAX 64      /* maximum of cached statements of a connection */
#define PAGE_SIZE "8192" /* bytes of a page in a new store: half as many reads and writes as with the default */

struct fh_db_statement {
	sqlite3_stmt *handle;
	struct fh_db *db;
	const char *sql; /* the caller's pointer: an equal pointer means the same query */
	bool once;
};

struct fh_db {
	sqlite3 *handle;
	char *path;
	struct fh_db_statement kept[KEPT_MAX];
	size_t kept_count;
	struct fh_search_cache *search;
};

static int failed(const struct fh_db *db, const char *doing, struct fh_error *err)
{
	int code = sqlite3_extended_errcode(db->handle), sys = sqlite3_system_errno(db->handle);
	switch (code & 0xff) {
	case SQLITE_FULL:
		fh_error_sys(err, ENOSPC, "%s the store %s", doing, db->path);
		fh_error_hint(err, "make room on the disk, or name another store with FUMEHOOD_STORE=FILE");
		return -FH_E_SYSTEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		fh_error_set(err, FH_E_UNAVAILABLE, "%s the store %s: another program has held it for %d s", doing, db->path,
		             BUSY_MS / 1000);
		if (err)
			err->retryable = true;
		return -FH_E_UNAVAILABLE;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		fh_error_set(err, FH_E_CONFIG, "%s is not a store of fumehood, or is damaged (%s)", db->path,
		             sqlite3_errmsg(db->handle));
		fh_error_hint(err, "move it away, or name another store with FUMEHOOD_STORE=FILE");
		return -FH_E_CONFIG;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
		if (sys)
			return fh_error_sys(err, sys, "%s the store %s", doing, db->path);
		return fh_error_set(err, FH_E_SYSTEM, "%s the store %s: %s", doing, db->path, sqlite3_errmsg(db->handle));
	default:
		return fh_error_set(err, FH_E_BUG, "%s the store %s: %s", doing, db->path, sqlite3_errmsg(db->handle));
	}
}

/* ---- SQL functions of our own: row_has(data, text), row_matches(data, regexp) ---- */

static struct fh_str argument(sqlite3_value *v)
{
	const char *p = (const char *)sqlite3_value_text(v);
	return (struct fh_str){ p ? p : "", p ? (size_t)sqlite3_value_bytes(v) : 0 };
}

static void row_has(sqlite3_context *context, int count, sqlite3_value **values)
{
	sqlite3_result_int(context, fh_search_has(argument(values[0]), argument(values[1])));
}

static void row_matches(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct fh_db *db = sqlite3_user_data(context);
	sqlite3_result_int(context, fh_search_matches(&db->search, argument(values[0]), argument(values[1])));
}

/* ---- connections ---- */

/* Switches a new file to WAL. When two programs do so at once, SQLite fails for one of them without calling its busy
 * handler, so the switch is repeated here. */
static int turn_to_wal(struct fh_db *db, struct fh_error *err)
{
	const int64_t until = fh_in_ms(BUSY_MS);
	int r;
	while ((r = fh_db_script(db, "PRAGMA journal_mode=WAL;", err)) == -FH_E_UNAVAILABLE && fh_now_ns() < until)
		fh_sleep_ns(5 * FH_NS_PER_MS);
	return r;
}

static int set_up(struct fh_db *db, struct fh_error *err)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	/* The schema of a store from elsewhere is not trusted: its views and triggers cannot call functions with side
	 * effects. */
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_create_function(db->handle, "row_has", 2, flags, db, row_has, NULL, NULL);
	sqlite3_create_function(db->handle, "row_matches", 2, flags, db, row_matches, NULL, NULL);
	return fh_db_script(
	    db, "PRAGMA foreign_keys=ON; PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;",
	    err);
}

int fh_db_begin_writing(struct fh_db *db, struct fh_error *err)
{
	int r = turn_to_wal(db, err);
	return r == 0 ? fh_db_script(db, "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000;", err) : r;
}

int fh_db_open(const char *path, bool read_only, struct fh_db **ret, struct fh_error *err)
{
	bool created = false;
	if (!read_only) {
		/* Creates a new file with our mode; SQLite's would depend on the umask. An existing file must not be opened
		 * here: closing it would drop the locks of every connection of this process to it (POSIX locks belong to a
		 * process). */
		fh_auto_close int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return fh_error_sys(err, errno, "cannot open the store %s", path);
		created = fd >= 0;
	}
	struct fh_db *db = FH_NEW(struct fh_db);
	db->path = fh_xstrdup(path);
	int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
	int r = 0;
	if (sqlite3_open_v2(path, &db->handle, flags, NULL) != SQLITE_OK)
		r = db->handle ? failed(db, "cannot open", err) : fh_error_set(err, FH_E_SYSTEM, "cannot open %s", path);
	if (r == 0 && created)
		r = fh_db_script(db, "PRAGMA page_size=" PAGE_SIZE ";", err);
	if (r == 0)
		r = set_up(db, err);
	if (r < 0) {
		fh_db_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

void fh_db_close(struct fh_db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->kept_count; i++)
		sqlite3_finalize(db->kept[i].handle);
	sqlite3_close(db->handle);
	fh_search_cache_free(db->search);
	free(db->path);
	free(db);
}

bool fh_db_log_is_empty(const struct fh_db *db)
{
	struct stat st;
	fh_auto_free char *log = fh_xasprintf("%s-wal", db->path);
	return stat(log, &st) == 0 && st.st_size == 0;
}

/* ---- statements ---- */

int fh_db_script(struct fh_db *db, const char *sql, struct fh_error *err)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(db, "cannot use", err);
}

static int prepared(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err)
{
	for (size_t i = 0; i < db->kept_count; i++)
		if (db->kept[i].sql == sql) {
			*ret = &db->kept[i];
			return 0;
		}
	if (db->kept_count == KEPT_MAX)
		return fh_error_set(err, FH_E_BUG, "more than %d queries of the store", KEPT_MAX);
	struct fh_db_statement *s = &db->kept[db->kept_count];
	*s = (struct fh_db_statement){ .db = db, .sql = sql };
	if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->handle, NULL) != SQLITE_OK)
		return failed(db, "cannot use", err);
	db->kept_count++;
	*ret = s;
	return 0;
}

static void bind_all(struct fh_db_statement *s, const char *format, va_list args)
{
	for (int at = 1; *format; format++, at++) {
		if (*format == 'i') {
			sqlite3_bind_int64(s->handle, at, va_arg(args, int64_t));
		} else if (*format == 'r') {
			sqlite3_bind_double(s->handle, at, va_arg(args, double));
		} else if (*format == 's') {
			const char *text = va_arg(args, const char *);
			sqlite3_bind_text(s->handle, at, text, -1, SQLITE_STATIC);
		} else {
			struct fh_str text = va_arg(args, struct fh_str);
			sqlite3_bind_text64(s->handle, at, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
		}
	}
}

/* The prepared statement with its values. */
static int bound(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err,
                 const char *format, va_list args)
{
	int r = prepared(db, sql, ret, err);
	if (r == 0)
		bind_all(*ret, format, args);
	return r;
}

int fh_db_do(struct fh_db *db, const char *sql, struct fh_error *err, const char *format, ...)
{
	struct fh_db_statement *s = NULL;
	va_list args;
	va_start(args, format);
	int r = bound(db, sql, &s, err, format, args);
	va_end(args);
	if (r < 0)
		return r;
	int code = sqlite3_step(s->handle);
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		r = failed(db, "cannot write to", err);
	fh_db_done(s);
	return r;
}

int fh_db_ask(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err, const char *format,
              ...)
{
	struct fh_db_statement *s = NULL;
	va_list args;
	va_start(args, format);
	int r = bound(db, sql, &s, err, format, args);
	va_end(args);
	if (r == 0)
		*ret = s;
	return r;
}

int fh_db_ask_once(struct fh_db *db, const char *sql, struct fh_db_statement **ret, struct fh_error *err)
{
	struct fh_db_statement *s = FH_NEW(struct fh_db_statement);
	*s = (struct fh_db_statement){ .db = db, .once = true };
	if (sqlite3_prepare_v2(db->handle, sql, -1, &s->handle, NULL) != SQLITE_OK) {
		free(s);
		return failed(db, "cannot use", err);
	}
	*ret = s;
	return 0;
}

void fh_db_bind_int(struct fh_db_statement *s, int at, int64_t value)
{
	sqlite3_bind_int64(s->handle, at, value);
}

void fh_db_bind_real(struct fh_db_statement *s, int at, double value)
{
	sqlite3_bind_double(s->handle, at, value);
}

void fh_db_bind_text(struct fh_db_statement *s, int at, struct fh_str value)
{
	sqlite3_bind_text64(s->handle, at, value.p, value.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

int fh_db_next(struct fh_db_statement *s, struct fh_error *err)
{
	int code = sqlite3_step(s->handle);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : failed(s->db, "cannot read", err);
}

void fh_db_done(struct fh_db_statement *s)
{
	if (!s)
		return;
	if (s->once) {
		sqlite3_finalize(s->handle);
		free(s);
		return;
	}
	sqlite3_reset(s->handle);
	sqlite3_clear_bindings(s->handle);
}

int64_t fh_db_int(const struct fh_db_statement *s, int column)
{
	return sqlite3_column_int64(s->handle, column);
}

double fh_db_real(const struct fh_db_statement *s, int column)
{
	return sqlite3_column_double(s->handle, column);
}

bool fh_db_is_null(const struct fh_db_statement *s, int column)
{
	return sqlite3_column_type(s->handle, column) == SQLITE_NULL;
}

struct fh_str fh_db_text(const struct fh_db_statement *s, int column)
{
	const char *p = (const char *)sqlite3_column_text(s->handle, column);
	return (struct fh_str){ p ? p : "", p ? (size_t)sqlite3_column_bytes(s->handle, column) : 0 };
}

int64_t fh_db_last_id(const struct fh_db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t fh_db_changes(const struct fh_db *db)
{
	return sqlite3_changes(db->handle);
}
