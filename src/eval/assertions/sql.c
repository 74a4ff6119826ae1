/* SPDX-License-Identifier: MIT */
/*
 * is-sql and contains-sql. SQLite's parser reads the statements, in a database whose tables are created when the parser
 * misses them. Syntax of MySQL and PostgreSQL is first rewritten as SQLite's, as far as the table below goes.
 * allowedTables and allowedColumns are compared with the names that sql_names.h finds. No statement is ever executed.
 */
#include <ctype.h>
#include <strings.h>
#include "eval/assertions/kinds.h"
#include "eval/assertions/sql_names.h"
#include "eval/assertions/sql_parser.h"
#include "eval/config/pattern.h"
#include "eval/config/text.h"
#include "eval/grading/grade.h"

#define SQL_MAX ((size_t)1 << 20)

static bool found(const char *pattern, const char *text)
{
	return fh_pattern_own_found(pattern, PCRE2_CASELESS, fh_str(text));
}

/* Syntax of other databases, and what replaces it for SQLite. */
static const char *const dialect[][2] = {
	{ "\\bAUTO_INCREMENT\\b", "" },
	{ "\\b(?:UN)?SIGNED\\b|\\bZEROFILL\\b", "" },
	{ "\\bINTERVAL\\s+('[^']*'|[-\\w.()]+)\\s*(?:MICROSECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR)?S?\\b",
	  "$1" },
	{ "\\)\\s*(?:ENGINE|DEFAULT\\s+CHARSET|CHARSET|COLLATE|AUTO_INCREMENT)\\s*=?\\s*\\w+(?:\\s+\\w+\\s*=\\s*\\w+)*",
	  ")" },
	{ "::\\s*\\w+(?:\\(\\d+(?:,\\d+)?\\))?(?:\\[\\])?", "" },
	{ "\\bILIKE\\b", "LIKE" },
	{ "\\bFOR\\s+(?:UPDATE|SHARE)\\b", "" },
	{ "\\bON\\s+DUPLICATE\\s+KEY\\s+UPDATE\\b", "ON CONFLICT DO UPDATE SET" },
	{ "\\bSTRAIGHT_JOIN\\b", "JOIN" },
	{ "\\bSELECT\\s+TOP\\s+\\d+\\b", "SELECT" },
	{ "\\bTRUNCATE\\s+(?:TABLE\\s+)?([\\w.`\"]+)", "DELETE FROM $1" },
};

/* Whether a statement begins with a command that other databases have and SQLite lacks; the rest of it is not
 * checked. */
static bool is_command(const char *sql)
{
	return found("^\\s*(?:SHOW|DESCRIBE|DESC|USE|SET|CALL|GRANT|REVOKE|LOCK|UNLOCK)\\s+[\\w'\"`@.*]", sql);
}

/* Whether an entry of the list, a pattern such as "select::null::t", stands for a name. An entry with a table's name
 * also stands for columns whose table the statement does not say. */
static bool is_allowed(const json_t *allowed, const char *name, bool columns)
{
	for (size_t i = 0; i < json_array_size(allowed); i++) {
		const char *entry = json_string_value(json_array_get(allowed, i));
		const char *of = entry ? strstr(entry, "::") : NULL, *column = of ? strstr(of + 2, "::") : NULL;
		fh_auto_free char *pattern = fh_xasprintf("^(?:%s)$", entry ? entry : "");
		fh_auto_free char *any =
		    columns && column ? fh_xasprintf("^(?:%.*s::null%s)$", (int)(of - entry), entry, column) : NULL;
		if (entry && (strcasecmp(entry, name) == 0 || found(pattern, name) || (any && found(any, name))))
			return true;
	}
	return false;
}

static char *forbidden(const json_t *names, const json_t *allowed, bool columns)
{
	for (size_t i = 0; i < json_array_size(names) && json_array_size(allowed) > 0; i++)
		if (!is_allowed(allowed, json_string_value(json_array_get(names, i)), columns))
			return fh_xasprintf("SQL references unauthorized %s(s). Found: [%s].", columns ? "column" : "table",
			                    json_string_value(json_array_get(names, i)));
	return NULL;
}

static char *forbidden_name(const char *sql, const json_t *value)
{
	fh_auto_json json_t *tables = json_array();
	fh_auto_json json_t *columns = json_array();
	fh_sql_names(sql, tables, columns);
	char *why = forbidden(tables, json_object_get(value, "allowedTables"), false);
	return why ? why : forbidden(columns, json_object_get(value, "allowedColumns"), true);
}

/* The databases whose names node-sql-parser knows, in any case. */
static bool is_database(const char *type)
{
	static const char *const known[] = { "mysql",    "mariadb", "postgresql", "sqlite",   "bigquery",
		                                 "db2",      "hive",    "noql",       "redshift", "transactsql",
		                                 "flinksql", "athena",  "snowflake",  "trino" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (strcasecmp(known[i], type) == 0)
			return true;
	return false;
}

/* Why the text is not SQL, or which table or column it may not use; NULL when it is fine. free() it. */
static char *problem_of(struct fh_str text, const json_t *value)
{
	const char *type = fh_json_str(value, "databaseType", "MySQL");
	char *wrong = fh_xasprintf("SQL statement does not conform to the provided %s database syntax.", type);
	struct fh_str trimmed = fh_text_trim(text);
	size_t ticks = 0;
	for (size_t i = 0; i < trimmed.n; i++)
		ticks += trimmed.p[i] == '`';
	if (trimmed.n == 0 || trimmed.n > SQL_MAX || ticks % 2 || !is_database(type))
		return wrong;
	char *sql = fh_xstrndup(trimmed.p, trimmed.n);
	/* Two words before FROM are most likely two columns with a comma missing between them. */
	bool comma =
	    found("\\bselect\\s+(?:(?:all|distinct)\\s+)*(?!(?:all|distinct)\\b)[a-z_]\\w*\\s+[a-z_]\\w*\\s+from\\b", sql);
	bool postgres = strcmp(type, "MySQL") == 0 && found("\\bgenerate_series\\s*\\(", sql);
	bool command = is_command(sql);
	for (size_t i = 0; i < FH_ARRAY_SIZE(dialect); i++) {
		char *next = fh_pattern_own_replace(dialect[i][0], PCRE2_CASELESS, sql, dialect[i][1]);
		free(sql);
		sql = next;
	}
	fh_auto_json json_t *tables = json_array();
	bool fine = !comma && !postgres && (command || fh_sql_parses(sql, tables));
	free(sql);
	if (!fine)
		return wrong;
	free(wrong);
	fh_auto_free char *written = fh_xstrndup(trimmed.p, trimmed.n);
	return forbidden_name(written, value);
}

static int check_value(const struct fh_assertion_call *call, struct fh_error *err)
{
	if (!fh_sql_available())
		return fh_error_set(err, FH_E_UNAVAILABLE, "\"%s\" needs SQLite, which this build has not", call->kind->name);
	if (call->value && !json_is_object(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion must have an object value", call->kind->name);
	for (size_t i = 0; i < 2; i++) {
		static const char *const lists[] = { "allowedTables", "allowedColumns" };
		const json_t *list = json_object_get(call->value, lists[i]);
		if (list && !json_is_null(list) && !json_is_array(list))
			return fh_error_set(err, FH_E_ARGUMENT, "\"%s\": %s has to be a list", call->kind->name, lists[i]);
	}
	return 0;
}

static int check_is(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	int r = check_value(call, err);
	if (r < 0)
		return r;
	fh_auto_free char *why = problem_of(call->output_text, call->value);
	return fh_grade_set(ret, call, !why, "%s", why ? why : "The output SQL statement is valid");
}

/* Checks the fenced blocks that are marked as SQL or have no language; without any fence, the whole text. */
static int check_contains(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	int r = check_value(call, err);
	if (r < 0)
		return r;
	const char *p = call->output_text.p;
	bool any = false, holds = false, inside = false, wanted = false;
	struct fh_buf block = FH_BUF_INIT(SQL_MAX);
	for (; *p && !holds; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
		struct fh_str line = fh_text_trim((struct fh_str){ p, strcspn(p, "\n") });
		bool fence = line.n >= 3 && memcmp(line.p, "```", 3) == 0;
		if (!fence) {
			fh_buf_add(&block, p, strcspn(p, "\n"));
			fh_buf_addc(&block, '\n');
		} else if (!inside) {
			fh_auto_free char *language = fh_xstrndup(line.p + 3, line.n - 3);
			wanted = !*language || strcasecmp(language, "sql") == 0;
			any = any || wanted;
			fh_buf_truncate(&block, 0);
		} else if (wanted) {
			fh_auto_free char *why = problem_of(fh_buf_str(&block), call->value);
			holds = !why;
		}
		inside = fence ? !inside : inside;
	}
	fh_buf_release(&block);
	fh_auto_free char *why = any ? NULL : problem_of(call->output_text, call->value);
	return fh_grade_set(ret, call, any ? holds : !why, "%s",
	                    call->inverse ? "The output SQL statement is valid" : "Output does not contain valid SQL");
}

const struct fh_assertion fh_assertion_is_sql = { .name = "is-sql", .check = check_is };
const struct fh_assertion fh_assertion_contains_sql = { .name = "contains-sql", .check = check_contains };
