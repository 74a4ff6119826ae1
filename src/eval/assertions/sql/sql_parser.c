/* SPDX-License-Identifier: MIT */
#include "eval/assertions/sql/sql_parser.h"
#include <sqlite3.h>
#include <strings.h>

#define TRIES_MAX 300

struct reading {
	sqlite3 *db;
	json_t *tables; /* names of the tables in the statements, in order of appearance */
};

static void add_table(struct reading *r, const char *name)
{
	for (size_t i = 0; i < json_array_size(r->tables); i++)
		if (strcasecmp(json_string_value(json_array_get(r->tables, i)), name) == 0)
			return;
	json_array_append_new(r->tables, fh_json_bytes(fh_str(name)));
}

/* Creates the table or column that the parser's error says is missing. False when the error is another one. */
static bool make_up(struct reading *r, const char *why)
{
	static const char table[] = "no such table: ", column[] = "no such column: ";
	const char *missing = strstr(why, table), *name = missing ? missing + strlen(table) : NULL;
	char *sql = NULL;
	bool done = false;
	if (name) {
		const char *dot = strchr(name, '.');
		if (dot) {
			fh_auto_free char *schema = fh_xstrndup(name, (size_t)(dot - name));
			sql = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", schema);
			sqlite3_exec(r->db, sql, NULL, NULL, NULL);
			sqlite3_free(sql);
			sql = sqlite3_mprintf("CREATE TABLE \"%w\".\"%w\" (\" \")", schema, dot + 1);
		} else {
			sql = sqlite3_mprintf("CREATE TABLE \"%w\" (\" \")", name);
		}
		add_table(r, dot ? dot + 1 : name);
		done = sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK;
		sqlite3_free(sql);
		return done;
	}
	if (!(missing = strstr(why, column)))
		return false;
	name = missing + strlen(column);
	name = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	for (size_t i = 0; i < json_array_size(r->tables) && !done; i++) {
		sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\"", json_string_value(json_array_get(r->tables, i)),
		                      name);
		done = sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK;
		sqlite3_free(sql);
	}
	return done;
}

/* Whether an error is one of syntax, which no table could mend. */
static bool is_syntax(const char *why)
{
	return strstr(why, "syntax error") || strstr(why, "incomplete input") || strstr(why, "unrecognized token");
}

static bool parses(struct reading *r, const char *sql)
{
	for (const char *tail = sql; *tail;) {
		sqlite3_stmt *statement = NULL;
		const char *next = NULL;
		int code = SQLITE_ERROR;
		for (int i = 0; i < TRIES_MAX && code != SQLITE_OK; i++) {
			code = sqlite3_prepare_v2(r->db, tail, -1, &statement, &next);
			sqlite3_finalize(statement);
			const char *why = sqlite3_errmsg(r->db);
			if (code != SQLITE_OK && is_syntax(why))
				return false;
			fh_auto_free char *copy = fh_xstrdup(why);
			if (code != SQLITE_OK && !make_up(r, copy))
				break;
		}
		/* A statement that names an unknown function or alias is still well-formed. */
		if (code != SQLITE_OK)
			next = tail + strcspn(tail, ";") + (tail[strcspn(tail, ";")] == ';');
		tail = next ? next : tail + strlen(tail);
		tail += strspn(tail, " \t\r\n;");
	}
	return true;
}

bool fh_sql_available(void)
{
	return true;
}

bool fh_sql_parses(const char *sql, json_t *tables)
{
	struct reading r = { .tables = tables };
	bool fine = sqlite3_open(":memory:", &r.db) == SQLITE_OK && parses(&r, sql);
	sqlite3_close(r.db);
	return fine;
}
