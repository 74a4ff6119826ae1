/* SPDX-License-Identifier: MIT */
#include "eval/assertions/sql/sql_alter.h"
#include "base/buf.h"
#include "eval/assertions/sql/sql_database.h"
#include "eval/common/pattern.h"

#define PATTERN_MAX ((size_t)1 << 16)
#define NAME "[\\w.`\"]+"
#define LIST "\\([^()]*\\)"
/* A type whose name is known: "MODIFY the column" has none. */
#define TYPE                                                                                                           \
	"(?:(?:TINY|SMALL|MEDIUM|BIG)?INT(?:EGER)?\\d*|DECIMAL|NUMERIC|NUMBER|FLOAT\\d*|DOUBLE(?:\\s+PRECISION)?|REAL|"    \
	"BIT|"                                                                                                             \
	"BOOL(?:EAN)?|DATE|DATETIME2?|TIMESTAMP(?:TZ)?|TIME|YEAR|N?CHAR|N?VARCHAR|CHARACTER(?:\\s+VARYING)?|"              \
	"(?:TINY|MEDIUM|LONG)?(?:TEXT|BLOB)|(?:VAR)?BINARY|ENUM|SET|JSONB?|UUID|(?:BIG|SMALL)?SERIAL|BYTEA|MONEY|XML|"     \
	"STRING|VARIANT|INTERVAL)\\b(?:\\s*" LIST ")?(?:\\[\\])?"
#define VALUE "(?:'[^']*'|[-+\\w.]+(?:\\s*" LIST ")?|" LIST ")"
#define REFERENCE                                                                                                      \
	"REFERENCES\\s+" NAME "\\s*" LIST                                                                                  \
	"(?:\\s+ON\\s+(?:DELETE|UPDATE)\\s+(?:CASCADE|RESTRICT|NO\\s+ACTION|SET\\s+\\w+))*"
/* What follows the type of a column. */
#define MORE                                                                                                           \
	"(?:\\s+(?:NOT\\s+NULL|NULL|DEFAULT\\s+" VALUE "|UNIQUE|PRIMARY\\s+KEY|KEY|AUTO_INCREMENT|UNSIGNED|ZEROFILL|"      \
	"COMMENT\\s+'[^']*'|COLLATE\\s+" NAME "|CHARACTER\\s+SET\\s+\\w+|CHECK\\s*" LIST "|ON\\s+UPDATE\\s+" VALUE         \
	"|" REFERENCE "|GENERATED\\s+(?:ALWAYS|BY\\s+DEFAULT)\\s+AS\\s+(?:IDENTITY|" LIST ")))*"
/* A column's name, and no word that begins another action. */
#define COLUMN "(?!(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK|INDEX|KEY|COLUMN|FULLTEXT|SPATIAL|IF|TO|AS)\\b)" NAME
#define NAMED "(?:CONSTRAINT\\s+(?:(?!FOREIGN\\b|PRIMARY\\b|UNIQUE\\b|CHECK\\b)" NAME "\\s+)?)?"

#define MYSQL (FH_SQL_MYSQL | FH_SQL_MARIADB)
#define ALL (~0u)

/* What may be done to a table, and in which databases: where promptfoo's parser takes it. */
static const struct {
	const char *pattern;
	unsigned has;
} actions[] = {
	{ "ADD\\s+(?:COLUMN\\s+)?" COLUMN "\\s+\\w+(?:\\s*" LIST ")?(?:\\[\\])?" MORE, ALL & ~(unsigned)FH_SQL_BIGQUERY },
	{ "ADD\\s+(?:COLUMN\\s+)?" COLUMN "\\s+\\w+(?:\\s*" LIST ")?" MORE "\\s+(?:FIRST|AFTER\\s+" NAME ")", MYSQL },
	{ "ADD\\s+COLUMN\\s+IF\\s+NOT\\s+EXISTS\\s+" NAME "\\s+\\w+(?:\\s*" LIST ")?(?:\\[\\])?" MORE,
	  FH_SQL_MARIADB | FH_SQL_POSTGRESQL },
	{ "ADD\\s+" NAMED "(?:PRIMARY\\s+KEY|UNIQUE(?:\\s+(?:INDEX|KEY))?(?:\\s+" NAME ")?|CHECK)\\s*"
	  "(\\((?:[^()]|(?-1))*\\))",
	  ALL & ~(unsigned)FH_SQL_BIGQUERY },
	{ "ADD\\s+" NAMED "FOREIGN\\s+KEY(?:\\s+" NAME ")?\\s*" LIST "\\s*" REFERENCE,
	  ALL & ~(unsigned)(FH_SQL_BIGQUERY | FH_SQL_TRANSACTSQL) },
	{ "ADD\\s+(?:(?:FULLTEXT|SPATIAL)\\s+)?(?:INDEX|KEY)(?:\\s+" NAME ")?\\s*" LIST,
	  MYSQL | FH_SQL_POSTGRESQL | FH_SQL_SNOWFLAKE | FH_SQL_REDSHIFT },
	{ "DROP\\s+(?:COLUMN\\s+)?" COLUMN, ALL },
	{ "DROP\\s+COLUMN\\s+IF\\s+EXISTS\\s+" NAME, FH_SQL_POSTGRESQL },
	{ "DROP\\s+(?:PRIMARY\\s+KEY|(?:INDEX|KEY|FOREIGN\\s+KEY)\\s+" NAME ")", MYSQL | FH_SQL_SQLITE },
	{ "DROP\\s+CONSTRAINT\\s+" NAME, MYSQL | FH_SQL_POSTGRESQL | FH_SQL_TRANSACTSQL },
	{ "DROP\\s+CHECK\\s+" NAME, FH_SQL_MYSQL | FH_SQL_SQLITE },
	{ "RENAME\\s+(?:(?:TO|AS)\\s+)?" COLUMN, ALL },
	{ "RENAME\\s+COLUMN\\s+" NAME "\\s+TO\\s+" NAME, MYSQL | FH_SQL_SQLITE },
	{ "ALTER\\s+(?:COLUMN\\s+)?" COLUMN "\\s+(?:SET\\s+DEFAULT\\s+" VALUE
	  "|DROP\\s+DEFAULT|(?:SET|DROP)\\s+NOT\\s+NULL|"
	  "(?:SET\\s+DATA\\s+)?TYPE\\s+" TYPE "(?:\\s+USING\\s[^;,]+)?)",
	  FH_SQL_POSTGRESQL },
	{ "ALTER\\s+COLUMN\\s+" NAME "\\s+" TYPE MORE, FH_SQL_TRANSACTSQL },
	{ "(?:MODIFY\\s+(?:COLUMN\\s+)?|CHANGE\\s+(?:COLUMN\\s+)?" NAME "\\s+)" COLUMN "\\s+" TYPE MORE
	  "(?:\\s+(?:FIRST|AFTER\\s+" NAME "))?",
	  MYSQL },
	{ "(?:ENGINE|AUTO_INCREMENT|COMMENT|COLLATE|(?:DEFAULT\\s+)?(?:CHARSET|CHARACTER\\s+SET))\\s*=\\s*" VALUE, MYSQL },
	{ "OWNER\\s+TO\\s+" NAME, FH_SQL_POSTGRESQL },
};

char *fh_sql_without_alters(const char *sql, unsigned databases)
{
	struct fh_buf any = FH_BUF_INIT(PATTERN_MAX);
	for (size_t i = 0; i < FH_ARRAY_SIZE(actions); i++)
		if (actions[i].has & databases)
			fh_buf_addf(&any, "%s%s", any.n ? "|" : "", actions[i].pattern);
	fh_auto_free char *pattern =
	    fh_xasprintf("(^|;)\\s*ALTER\\s+TABLE\\s+%s" NAME "\\s+(?<action>%s)(?:\\s*,\\s*(?&action))*\\s*(?=;|$)",
	                 databases & FH_SQL_POSTGRESQL ? "(?:IF\\s+EXISTS\\s+)?(?:ONLY\\s+)?" : "", fh_buf_cstr(&any));
	fh_buf_release(&any);
	return fh_pattern_own_replace(pattern, PCRE2_CASELESS, sql, "$1");
}
