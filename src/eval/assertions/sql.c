/* SPDX-License-Identifier: MIT */
/*
 * is-sql and contains-sql. SQLite's parser reads the statements, in a database whose tables are created when the parser
 * misses them. Syntax of MySQL and PostgreSQL is first rewritten as SQLite's, as far as the table below goes.
 * allowedTables is compared with the list of created tables. No statement is ever executed.
 */
#include <ctype.h>
#include <strings.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "eval/assertions/kinds.h"
#include "eval/assertions/sql_parser.h"
#include "eval/config/text.h"
#include "eval/grading/grade.h"

#define SQL_MAX ((size_t)1 << 20)

static bool found(const char *pattern, const char *text)
{
	int problem;
	PCRE2_SIZE offset;
	pcre2_code *code =
	    pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS, &problem, &offset, NULL);
	pcre2_match_data *data = code ? pcre2_match_data_create(1, NULL) : NULL;
	bool hit = code && pcre2_match(code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, data, NULL) >= 0;
	pcre2_match_data_free(data);
	pcre2_code_free(code);
	return hit;
}

static char *replaced(const char *text, const char *pattern, const char *by)
{
	int problem;
	PCRE2_SIZE offset, n = strlen(text) * 2 + 1024;
	pcre2_code *code =
	    pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS, &problem, &offset, NULL);
	char *out = fh_xcalloc(n + 1, 1);
	int r = code ? pcre2_substitute(code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0,
	                                PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY, NULL, NULL, (PCRE2_SPTR)by,
	                                PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)out, &n)
	             : -1;
	pcre2_code_free(code);
	if (r >= 0)
		return out;
	free(out);
	return fh_xstrdup(text);
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

/* Whether the list allows this statement (verb) on this table; an entry looks like "select::null::t". */
static bool is_allowed(const json_t *allowed, const char *verb, const char *table)
{
	for (size_t i = 0; i < json_array_size(allowed); i++) {
		const char *pattern = json_string_value(json_array_get(allowed, i));
		fh_auto_free char *own = fh_xasprintf("%s::null::%s", verb, table);
		if (pattern && (strcasecmp(pattern, own) == 0 || found(pattern, own)))
			return true;
	}
	return false;
}

static char *forbidden_table(const json_t *tables, const char *sql, const json_t *allowed)
{
	static const char *const verbs[][2] = { { "^\\s*INSERT", "insert" }, { "^\\s*UPDATE", "update" },
		                                    { "^\\s*DELETE", "delete" }, { "^\\s*REPLACE", "replace" },
		                                    { "^\\s*CREATE", "create" }, { "^\\s*DROP", "drop" } };
	const char *verb = "select";
	for (size_t i = 0; i < FH_ARRAY_SIZE(verbs); i++)
		verb = found(verbs[i][0], sql) ? verbs[i][1] : verb;
	for (size_t i = 0; i < json_array_size(tables); i++) {
		const char *table = json_string_value(json_array_get(tables, i));
		if (!is_allowed(allowed, i == 0 ? verb : "select", table))
			return fh_xasprintf("SQL references unauthorized table(s). Found: [%s::null::%s].",
			                    i == 0 ? verb : "select", table);
	}
	return NULL;
}

/* Why the text is not SQL, or which table it may not use; NULL when it is fine. free() it. */
static char *problem_of(struct fh_str text, const json_t *value)
{
	const char *type = fh_json_str(value, "databaseType", "MySQL");
	const json_t *allowed = json_object_get(value, "allowedTables");
	char *wrong = fh_xasprintf("SQL statement does not conform to the provided %s database syntax.", type);
	struct fh_str trimmed = fh_text_trim(text);
	size_t ticks = 0;
	for (size_t i = 0; i < trimmed.n; i++)
		ticks += trimmed.p[i] == '`';
	if (trimmed.n == 0 || trimmed.n > SQL_MAX || ticks % 2)
		return wrong;
	char *sql = fh_xstrndup(trimmed.p, trimmed.n);
	/* Two words before FROM are most likely two columns with a comma missing between them. */
	bool comma =
	    found("\\bselect\\s+(?:(?:all|distinct)\\s+)*(?!(?:all|distinct)\\b)[a-z_]\\w*\\s+[a-z_]\\w*\\s+from\\b", sql);
	bool postgres = strcmp(type, "MySQL") == 0 && found("\\bgenerate_series\\s*\\(", sql);
	bool command = is_command(sql);
	for (size_t i = 0; i < FH_ARRAY_SIZE(dialect); i++) {
		char *next = replaced(sql, dialect[i][0], dialect[i][1]);
		free(sql);
		sql = next;
	}
	fh_auto_json json_t *tables = json_array();
	bool fine = !comma && !postgres && (command || fh_sql_parses(sql, tables));
	char *forbidden = fine && json_is_array(allowed) ? forbidden_table(tables, sql, allowed) : NULL;
	free(sql);
	if (!fine)
		return wrong;
	free(wrong);
	return forbidden;
}

static int check_value(const struct fh_assertion_call *call, struct fh_error *err)
{
	if (!fh_sql_available())
		return fh_error_set(err, FH_E_UNAVAILABLE, "\"%s\" needs SQLite, which this build has not", call->kind->name);
	if (call->value && !json_is_object(call->value))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" assertion must have an object value", call->kind->name);
	if (json_object_get(call->value, "allowedColumns"))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\": allowedColumns is not supported; allowedTables is",
		                    call->kind->name);
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
