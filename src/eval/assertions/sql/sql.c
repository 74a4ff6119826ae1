/* SPDX-License-Identifier: MIT */
/*
 * is-sql and contains-sql. SQLite's parser reads the statements, in a database whose tables are created when the parser
 * misses them. Syntax of MySQL and PostgreSQL is first rewritten as SQLite's, as far as the table below goes.
 * allowedTables and allowedColumns are compared with the names that sql_names.h finds. No statement is ever executed.
 */
#include <ctype.h>
#include <strings.h>
#include "eval/assertions/kinds.h"
#include "eval/assertions/sql/sql_alter.h"
#include "eval/assertions/sql/sql_database.h"
#include "eval/assertions/sql/sql_names.h"
#include "eval/assertions/sql/sql_parser.h"
#include "eval/common/pattern.h"
#include "eval/common/text.h"
#include "eval/grading/grade.h"

#define SQL_MAX ((size_t)1 << 20)

static bool found(const char *pattern, const char *text)
{
	return fh_pattern_own_found(pattern, PCRE2_CASELESS, fh_str(text));
}

/* Syntax of other databases, and what replaces it for SQLite, which only parses the result. In this order. */
static const char *const dialect[][2] = {
	{ "\\\\'", "''" },
	{ "\\b(STRUCT|ARRAY)\\s*(<(?:[^<>]|(?2))*>)", "$1" },
	{ "\\bSTRUCT\\s*(\\((?:[^()']|'[^']*'|(?1))*\\))", "NULL" },
	{ "`([^`.]+)\\.([^`.]+)\\.([^`.]+)`", "`$1_$2_$3`" },
	{ "\\b(CURRENT_(?:DATE|TIME|TIMESTAMP))\\s*\\(\\s*\\d*\\s*\\)", "$1" },
	{ "\\bAUTO_INCREMENT\\b", "" },
	{ "\\bCONVERT\\s*\\(([^()]*?)(?:,\\s*(?:UN)?SIGNED(?:\\s+INTEGER)?|\\s+USING\\s+\\w+)\\s*\\)", "($1)" },
	{ "\\b(?:UN)?SIGNED\\b|\\bZEROFILL\\b", "" },
	{ "\\bINTERVAL\\s+('[^']*'|[-\\w.()]+)(?:\\s*(?:MICROSECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR)S?\\b)?",
	  "$1" },
	{ "\\)\\s*(?:ENGINE|DEFAULT\\s+CHARSET|CHARSET|COLLATE|AUTO_INCREMENT)\\s*=?\\s*\\w+(?:\\s+\\w+\\s*=\\s*\\w+)*",
	  ")" },
	{ "::\\s*\\w+(?:\\(\\d+(?:,\\d+)?\\))?(?:\\[\\])?", "" },
	{ "\\bILIKE\\b|\\s!?~\\*?(?=\\s)", " LIKE" },
	{ "\\bRLIKE\\b", "REGEXP" },
	{ "\\bXOR\\b", "OR" },
	{ "\\bDIV\\b", "/" },
	{ "\\bMOD\\b(?!\\s*\\()", "%" },
	{ "\\bFOR\\s+(?:UPDATE|SHARE)\\b", "" },
	{ "\\bON\\s+DUPLICATE\\s+KEY\\s+UPDATE\\b", "ON CONFLICT DO UPDATE SET" },
	{ "\\bSTRAIGHT_JOIN\\b", "JOIN" },
	{ "\\bSELECT\\s+TOP\\s+\\d+\\b", "SELECT" },
	{ "\\bDISTINCT\\s+ON\\s*\\([^()]*\\)", "DISTINCT" },
	{ "\\bLIMIT\\s+ALL\\b", "LIMIT -1" },
	{ "\\bWITH\\s+ROLLUP\\b", "" },
	{ "\\bWITHIN\\s+GROUP\\s*\\([^()]*\\)", "" },
	{ "^(?![^;]*\\bLIMIT\\b)([^;]*)\\bOFFSET\\s+\\d+(?:\\s+ROWS?)?", "$1" },
	{ "\\b(UNION)\\s+DISTINCT\\b", "$1" },
	/* A query in parentheses that is a statement, or a part of a union. */
	{ "(^|;|\\b(?:UNION(?:\\s+ALL)?|INTERSECT|EXCEPT))\\s*\\((\\s*SELECT\\b(?:[^()']|'[^']*'|(\\((?:[^()']|'[^']*'|(?3)"
	  ")*\\)))*)\\)",
	  "$1 SELECT * FROM ($2)" },
	{ "\\bTRUNCATE\\s+(?:TABLE\\s+)?([\\w.`\"]+)", "DELETE FROM $1" },
	{ "\\bEXTRACT\\s*\\(\\s*\\w+\\s+FROM\\b", "(" },
	{ "\\bTRIM\\s*\\(\\s*(?:BOTH|LEADING|TRAILING)?\\s*(?:'[^']*'\\s*)?FROM\\b", "trim(" },
	{ "\\bSEPARATOR\\s+'[^']*'", "" },
	{ "\\b(GROUP_CONCAT|STRING_AGG|ARRAY_AGG|JSON_AGG)\\s*\\(([^()]*?)\\s+ORDER\\s+BY\\s[^()]*\\)", "$1($2)" },
	{ "\\bMATCH\\s*\\([^()]*\\)\\s*AGAINST\\s*\\([^()]*\\)", "1" },
	{ "\\bARRAY\\s*\\[([^][]*)\\]", "json_array($1)" },
	{ "(=|<>|!=|<=|>=|<|>)\\s*(?:ALL|ANY|SOME)\\s*\\(", "$1 (" },
	{ "\\b(FROM|JOIN|INTO|UPDATE|TABLE)\\s+[\\w`\"]+\\.([\\w`\"]+\\.[\\w`\"]+)", "$1 $2" },
	{ "\\bINSERT\\s+IGNORE\\b", "INSERT" },
	{ "\\bINSERT\\s+(?!INTO\\b|OR\\b)", "INSERT INTO " },
	{ "\\bINSERT\\s+INTO\\s+(\\S+)\\s+SET\\b", "UPDATE $1 SET" },
	{ "([(,]\\s*)DEFAULT(?=\\s*[,)])", "$1NULL" },
	{ "\\bUPDATE\\s([^;]*?\\bJOIN\\b[^;]*?)\\bSET\\b([^;]*?)(?=\\bWHERE\\b|;|$)", "SELECT $2 FROM $1 " },
	{ "\\bDELETE\\s+[\\w`\".*, ]+\\s+FROM\\b([^;]*?\\bJOIN\\b)", "SELECT * FROM$1" },
	{ "\\b(?:ENUM|SET)\\s*\\(\\s*'[^()]*\\)", "TEXT" },
	{ "\\bUNIQUE\\s+(?:KEY|INDEX)\\s+[\\w`]*\\s*\\(", "UNIQUE (" },
	{ ",\\s*(?:(?:FULLTEXT|SPATIAL)\\s+)?(?:KEY|INDEX)\\s+[\\w`]+\\s*\\([^()]*\\)", "" },
	{ "\\bCREATE\\s+OR\\s+REPLACE\\s+", "CREATE " },
	/* BigQuery's. What is in a STRUCT is not looked at. */
	{ "([(,]\\s*)r(?=['\"])", "$1" },
	{ "((?:\\bSELECT\\s+|\\.|,\\s*)\\*)\\s*(?:EXCEPT|REPLACE|EXCLUDE)\\s*(?:\\w+|(\\((?:[^()']|'[^']*'|(?2))*\\)))",
	  "$1" },
	{ "\\bWITH\\s+OFFSET\\b(?:\\s+AS\\s+\\w+)?", "" },
	{ "\\b(?:SAFE|TRY)_CAST\\s*\\(", "CAST(" },
	{ "\\b(EXCEPT|INTERSECT)\\s+DISTINCT\\b", "$1" },
	{ "\\bFOR\\s+SYSTEM_TIME\\s+AS\\s+OF\\s+[\\w']+(?:\\s*(\\((?:[^()]|(?1))*\\)))?", "" },
	{ ",\\s*(FROM\\b)", " $1" },
	{ "\\b(?:UN)?PIVOT\\s*(\\((?:[^()']|'[^']*'|(?1))*\\))", "" },
	{ "\\bARRAY\\s*\\((?=\\s*SELECT\\b)", "(" },
	{ "(?<![\\w.`\"])(?:\\w+\\.)+(\\w+\\s*\\()", "$1" },
	{ "\\bDROP\\s+(TABLE|VIEW)\\s+(IF\\s+EXISTS\\s+)?([\\w.`\"]+)(?:\\s*,\\s*[\\w.`\"]+)+", "DROP $1 $2$3" },
};

/* Syntax that only some databases have, outside of texts and comments. Of a database that is not told apart, all syntax
 * here is taken. */
static const struct {
	const char *pattern;
	unsigned has;
} particular[] = {
	{ "(?:^|[\\s,.(])\\[[a-z_]", FH_SQL_TRANSACTSQL | FH_SQL_BIGQUERY },
	{ "\\bSELECT\\s+TOP\\b", FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE },
	{ "\\bILIKE\\b", FH_SQL_POSTGRESQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bON\\s+CONFLICT\\b", FH_SQL_POSTGRESQL | FH_SQL_SQLITE | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bON\\s+DUPLICATE\\s+KEY\\b", FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_SQLITE | FH_SQL_BIGQUERY },
	{ "\\bRLIKE\\b|\\bXOR\\b|\\s(?:DIV|MOD)\\s|^\\s*(?:DESCRIBE|DESC)\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bREGEXP\\s", (unsigned)~(FH_SQL_POSTGRESQL | FH_SQL_BIGQUERY | FH_SQL_REDSHIFT) },
	{ "\\bINSERT\\s+INTO\\s+\\S+\\s+SET\\b", (unsigned)~(FH_SQL_POSTGRESQL | FH_SQL_REDSHIFT | FH_SQL_SNOWFLAKE) },
	{ "==", FH_SQL_SQLITE | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\s!?~\\*?\\s", FH_SQL_POSTGRESQL | FH_SQL_REDSHIFT },
	{ "\\bFILTER\\s*\\(\\s*WHERE\\b",
	  FH_SQL_POSTGRESQL | FH_SQL_SQLITE | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bNULLS\\s+(?:FIRST|LAST)\\b",
	  FH_SQL_POSTGRESQL | FH_SQL_SQLITE | FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bOR\\s+REPLACE\\s+VIEW\\b", (unsigned)~FH_SQL_SQLITE },
	{ "\\bWITH\\s+ROLLUP\\b|\\bSEPARATOR\\s+'|\\bAGAINST\\s*\\(|\\bMODIFY\\s+COLUMN\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_TRANSACTSQL },
	{ "\\bARRAY\\s*\\[",
	  FH_SQL_POSTGRESQL | FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bRETURNING\\b", FH_SQL_POSTGRESQL | FH_SQL_MARIADB | FH_SQL_SQLITE | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bLIMIT\\s+\\d+\\s*,", FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_SQLITE | FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL },
	{ "\\bLIMIT\\s+ALL\\b", FH_SQL_POSTGRESQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bEXTRACT\\s*\\(\\s*\\w+\\s+FROM\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_POSTGRESQL | FH_SQL_BIGQUERY | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\\s+(?:\\w+|`[^`]*`|\"[^\"]*\")\\.(?:\\w+|`[^`]*`|\"[^\"]*\")\\.[\\w`\"]",
	  FH_SQL_POSTGRESQL | FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\bWITHIN\\s+GROUP\\b", FH_SQL_POSTGRESQL | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "^(?![^;]*\\bLIMIT\\b)[^;]*\\bOFFSET\\s+\\d",
	  FH_SQL_POSTGRESQL | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "(?:^|;)\\s*(?:UPDATE|DELETE)\\b[^;()]*\\bLIMIT\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_SQLITE | FH_SQL_BIGQUERY },
	{ "\\bAS\\s+''", (unsigned)~FH_SQL_POSTGRESQL },
	{ "(?:^|;)\\s*END\\b", FH_SQL_POSTGRESQL | FH_SQL_SQLITE },
	{ "^\\s*SHOW\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_POSTGRESQL | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "^\\s*(?:GRANT|REVOKE)\\b",
	  FH_SQL_MYSQL | FH_SQL_MARIADB | FH_SQL_POSTGRESQL | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "(?:^|[\\s,(=>])\\[\\s*[-\\d'\"]", FH_SQL_TRANSACTSQL | FH_SQL_BIGQUERY },
	{ "[\\w)\\]]\\[", FH_SQL_POSTGRESQL | FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "\\b(?:ARRAY|STRUCT)\\s*<|\\bSTRUCT\\s*\\([^()]*\\bAS\\b|[(,]\\s*r['\"]|\\bWITH\\s+OFFSET\\b|,\\s*FROM\\b",
	  FH_SQL_BIGQUERY },
	{ "(?:\\bSELECT\\s+|\\.|,\\s*)\\*\\s*(?:EXCEPT|REPLACE)\\s*\\(", FH_SQL_BIGQUERY },
	{ "(?:\\bSELECT\\s+|\\.|,\\s*)\\*\\s*EXCLUDE\\b", FH_SQL_SNOWFLAKE },
	{ "\\bSAFE_CAST\\s*\\(|\\b(?:EXCEPT|INTERSECT)\\s+DISTINCT\\b|\\bCREATE\\s[^;]*\\b(?:INT64|FLOAT64|BIGNUMERIC)\\b",
	  FH_SQL_BIGQUERY },
	{ "\\bTRY_CAST\\s*\\(", FH_SQL_SNOWFLAKE | FH_SQL_TRANSACTSQL },
	{ "\\bAS\\s+STRING\\s*\\)|\\bCREATE\\s[^;]*\\w\\s+STRING\\b", FH_SQL_BIGQUERY | FH_SQL_SNOWFLAKE },
	{ "\\bAS\\s+(?:TEXT|VARCHAR|CHAR)\\s*[()]|\\b(?:EXCEPT|INTERSECT)\\s+SELECT\\b", (unsigned)~FH_SQL_BIGQUERY },
	{ "\\bUNION\\s+DISTINCT\\b", (unsigned)~(FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE) },
	{ "\\bFOR\\s+SYSTEM_TIME\\b", FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_MARIADB },
	{ "\\b(?:UN)?PIVOT\\s*\\(", FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL | FH_SQL_SNOWFLAKE },
	{ "(?:\\b(?:FROM|JOIN)\\s|,)\\s*UNNEST\\s*\\(", (unsigned)~(FH_SQL_MYSQL | FH_SQL_MARIADB) },
};

/* Statements that other databases have and SQLite lacks; each pattern is a whole one, as prose begins with such words,
 * too. */
#define NAME "[\\w.`\"]+"
static const char *const commands[] = {
	"USE\\s+" NAME,
	"SHOW\\s+(?:(?:FULL|GLOBAL|SESSION|EXTENDED)\\s+)?(?:TABLES|DATABASES|SCHEMAS|TRIGGERS|VARIABLES|STATUS|"
	"PROCESSLIST|GRANTS|ENGINES|"
	"WARNINGS|ERRORS|EVENTS|PLUGINS|COLLATION|CHARACTER\\s+SET|TABLE\\s+STATUS|(?:PROCEDURE|FUNCTION)\\s+STATUS)"
	"(?:\\s+(?:FROM|IN|LIKE|WHERE|FOR)\\s[^;]*)?",
	"SHOW\\s+(?:FULL\\s+)?(?:COLUMNS|FIELDS|INDEX|INDEXES|KEYS)\\s+(?:FROM|IN)\\s+" NAME
	"(?:\\s+(?:FROM|IN|LIKE|WHERE)\\s[^;]*)?",
	"SHOW\\s+CREATE\\s+(?:TABLE|VIEW|DATABASE|PROCEDURE|FUNCTION|TRIGGER|EVENT)\\s+" NAME,
	"(?:DESCRIBE|DESC)\\s+" NAME,
	"SET\\s+(?:(?:GLOBAL|SESSION|LOCAL)\\s+)?[@\\w.`]+\\s*(?::?=|\\bTO\\b)[^;]+",
	"SET\\s+(?:NAMES|CHARACTER\\s+SET)\\s+['\\w]+",
	"SET\\s+(?:SESSION\\s+)?TRANSACTION\\s+(?:READ|ISOLATION)\\s[^;]+",
	"START\\s+TRANSACTION",
	"CALL\\s+" NAME "(?:\\s*\\([^;]*\\))?",
	"GRANT\\s+[\\w\\s,()]+\\s+ON\\s[^;]+\\sTO\\s[^;]+",
	"REVOKE\\s+[\\w\\s,()]+\\s+ON\\s[^;]+\\sFROM\\s[^;]+",
	"LOCK\\s+TABLES?\\s[^;]+\\b(?:READ|WRITE|MODE)\\b[^;]*",
	"UNLOCK\\s+TABLES",
	"(?:CREATE|DROP)\\s+(?:DATABASE|SCHEMA)\\s+(?:IF\\s+(?:NOT\\s+)?EXISTS\\s+)?" NAME
	"(?:\\s+(?:CHARACTER|CHARSET|DEFAULT|COLLATE|WITH|OWNER|ENCODING|TEMPLATE|AUTHORIZATION|CASCADE|RESTRICT)\\b[^;]*)"
	"?",
};

/* The text without those statements. */
static char *without_commands(const char *sql)
{
	char *now = fh_xstrdup(sql);
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++) {
		fh_auto_free char *pattern = fh_xasprintf("(^|;)\\s*(?:%s)\\s*(?=;|$)", commands[i]);
		char *next = fh_pattern_own_replace(pattern, PCRE2_CASELESS, now, "$1");
		free(now);
		now = next;
	}
	return now;
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

/* Whether node-sql-parser knows a database of this name, in upper or lower case. Its bit is 0 if all commands are
 * allowed for it. */
static bool is_database(const char *type, unsigned *ret_bit)
{
	static const struct {
		const char *name;
		unsigned bit;
	} known[] = { { "mysql", FH_SQL_MYSQL },
		          { "mariadb", FH_SQL_MARIADB },
		          { "postgresql", FH_SQL_POSTGRESQL },
		          { "sqlite", FH_SQL_SQLITE },
		          { "bigquery", FH_SQL_BIGQUERY },
		          { "transactsql", FH_SQL_TRANSACTSQL },
		          { "snowflake", FH_SQL_SNOWFLAKE },
		          { "redshift", FH_SQL_REDSHIFT },
		          { "db2", 0 },
		          { "hive", 0 },
		          { "noql", 0 },
		          { "flinksql", 0 },
		          { "athena", 0 },
		          { "trino", 0 } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(known); i++)
		if (strcasecmp(known[i].name, type) == 0) {
			*ret_bit = known[i].bit;
			return true;
		}
	return false;
}

/* Whether the statements have syntax of another database than this one. */
static bool is_foreign(const char *sql, unsigned database)
{
	fh_auto_free char *plain = fh_pattern_own_replace("'(?:[^']|'')*'|--[^\n]*|/\\*[\\s\\S]*?\\*/", 0, sql, "''");
	for (size_t i = 0; i < FH_ARRAY_SIZE(particular); i++)
		if (!(particular[i].has & database) && found(particular[i].pattern, plain))
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
	unsigned database = 0;
	if (trimmed.n == 0 || trimmed.n > SQL_MAX || ticks % 2 || !is_database(type, &database))
		return wrong;
	char *sql = fh_xstrndup(trimmed.p, trimmed.n);
	bool foreign = database && is_foreign(sql, database);
	/* Two words before FROM are most likely two columns with a comma missing between them. */
	bool comma =
	    found("\\bselect\\s+(?:(?:all|distinct)\\s+)*(?!(?:all|distinct)\\b)[a-z_]\\w*\\s+[a-z_]\\w*\\s+from\\b", sql);
	bool postgres = strcmp(type, "MySQL") == 0 && found("\\bgenerate_series\\s*\\(", sql);
	fh_auto_free char *unaltered = fh_sql_without_alters(sql, database ? database : ~0u);
	foreign = foreign || found("(?:^|;)\\s*ALTER\\s+TABLE\\b", unaltered);
	char *others = without_commands(unaltered);
	bool only_commands = !found("[^;\\s]", others);
	free(sql);
	sql = others;
	for (size_t i = 0; i < FH_ARRAY_SIZE(dialect); i++) {
		char *next = fh_pattern_own_replace(dialect[i][0], PCRE2_CASELESS, sql, dialect[i][1]);
		free(sql);
		sql = next;
	}
	fh_auto_json json_t *tables = json_array();
	bool fine = !comma && !postgres && !foreign && (only_commands || fh_sql_parses(sql, tables));
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
		return fh_error_set(err, FH_E_UNAVAILABLE, "\"%s\" needs SQLite, which this build does not have",
		                    call->kind->name);
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
