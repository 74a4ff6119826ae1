/* SPDX-License-Identifier: MIT */
#include "eval/assertions/sql/sql_names.h"
#include <ctype.h>
#include <strings.h>

#define TOKENS_MAX 200000

enum kind { END, WORD, QUOTED, VALUE, SIGN }; /* QUOTED: a name in quotes, which is never a keyword */

struct token {
	enum kind kind;
	char *text; /* without quotes; of a sign its one or two characters */
	bool taken; /* part of a table's name, or an alias */
};

struct alias {
	const char *name, *table;
};

struct reader {
	struct token *items;
	size_t n, capacity;
	struct alias *aliases;
	size_t n_aliases, alias_capacity;
	json_t *tables, *columns;
};

/* ---- tokens ---- */

static void push(struct reader *r, enum kind kind, const char *p, size_t n)
{
	FH_PUSH(r->items, r->n, r->capacity) = (struct token){ kind, fh_xstrndup(p, n), false };
}

/* Length of the comment at p, or 0. */
static size_t comment_length(const char *p)
{
	if ((p[0] == '-' && p[1] == '-') || p[0] == '#')
		return strcspn(p, "\n");
	if (p[0] != '/' || p[1] != '*')
		return 0;
	const char *end = strstr(p + 2, "*/");
	return end ? (size_t)(end + 2 - p) : strlen(p);
}

static size_t quoted_length(const char *p, char close)
{
	size_t n = 1;
	while (p[n] && (p[n] != close || p[n + 1] == close))
		n += p[n] == close || (p[n] == '\\' && p[n + 1]) ? 2 : 1;
	return n + (p[n] != '\0');
}

static void split(struct reader *r, const char *p)
{
	while (*p && r->n < TOKENS_MAX) {
		size_t n = comment_length(p);
		if (n == 0)
			n = strspn(p, " \t\r\n\f\v");
		if (n > 0) {
			p += n;
			continue;
		}
		if (*p == '\'' || *p == '"' || *p == '`' || (*p == '[' && isalpha((unsigned char)p[1]))) {
			n = quoted_length(p, *p == '[' ? ']' : *p);
			push(r, *p == '\'' ? VALUE : QUOTED, p + 1, n >= 2 ? n - 2 : 0);
		} else if (isalpha((unsigned char)*p) || *p == '_' || (unsigned char)*p >= 0x80) {
			while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '$' || (unsigned char)p[n] >= 0x80)
				n++;
			push(r, WORD, p, n);
		} else if (isdigit((unsigned char)*p) || *p == ':' || *p == '@' || *p == '?' || *p == '$') {
			bool cast = p[0] == ':' && p[1] == ':';
			for (n = 1 + cast; !cast && (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.');)
				n++;
			push(r, cast ? SIGN : VALUE, p, n);
		} else {
			push(r, SIGN, p, n = 1);
		}
		p += n;
	}
	push(r, END, "", 0);
}

static bool word_is(const struct reader *r, size_t i, const char *words)
{
	if (i >= r->n || r->items[i].kind != WORD)
		return false;
	size_t n = strlen(r->items[i].text);
	for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ')
		if (strcspn(w, " ") == n && strncasecmp(w, r->items[i].text, n) == 0)
			return true;
	return false;
}

static bool sign_is(const struct reader *r, size_t i, char c)
{
	return i < r->n && r->items[i].kind == SIGN && r->items[i].text[0] == c && !r->items[i].text[1];
}

static const char keywords[] =
    "select from where and or not in is null like ilike rlike regexp between exists case when then else end as on "
    "using "
    "join inner left right full outer cross natural group by having order asc desc limit offset union all distinct "
    "except "
    "intersect with recursive insert into values value update set delete replace create table if drop alter truncate "
    "true "
    "false interval escape collate over partition rows range unbounded preceding following current row nulls first "
    "last "
    "fetch next only any some for share lock returning conflict do nothing duplicate key ignore temporary view index "
    "primary default current_date current_time current_timestamp localtime localtimestamp div mod xor binary unknown "
    "filter within lateral straight_join window top add column rename to constraint foreign references unique check "
    "cascade restrict show tables describe explain year month day hour minute second week quarter microsecond";

static bool is_name(const struct reader *r, size_t i)
{
	return i < r->n && (r->items[i].kind == QUOTED || (r->items[i].kind == WORD && !word_is(r, i, keywords)));
}

/* ---- the lists ---- */

static void add(json_t *list, const char *verb, const char *of, const char *name)
{
	fh_auto_free char *text = fh_xasprintf("%s::%s::%s", verb, of ? of : "null", name);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return;
	json_array_append_new(list, fh_json_bytes(fh_str(text)));
}

/* The table that a column's qualifier stands for. */
static const char *table_of(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->n_aliases; i++)
		if (strcasecmp(r->aliases[i].name, name) == 0)
			return r->aliases[i].table;
	return name;
}

/* Reads [schema.]table [[AS] alias] at i; returns the index behind it, or i when there is no name. */
static size_t read_table(struct reader *r, size_t i, const char *verb, bool aliased)
{
	if (!is_name(r, i))
		return i;
	const char *schema = NULL, *table = r->items[i].text;
	for (r->items[i++].taken = true; sign_is(r, i, '.') && i + 1 < r->n; i += 2) {
		schema = table;
		table = r->items[i + 1].text;
		r->items[i + 1].taken = true;
	}
	add(r->tables, verb, schema, table);
	size_t name = i + word_is(r, i, "as");
	if (!aliased || !is_name(r, name))
		return i;
	r->items[name].taken = true;
	FH_PUSH(r->aliases, r->n_aliases, r->alias_capacity) = (struct alias){ r->items[name].text, table };
	return name + 1;
}

/* Reads a list of tables at i. A subquery in it ends the list: its own FROM is found later. */
static size_t read_tables(struct reader *r, size_t i, const char *verb)
{
	for (size_t next; (next = read_table(r, i, verb, true)) > i; i++) {
		i = next;
		if (!sign_is(r, i, ','))
			break;
	}
	return i;
}

static const char *verb_of(const struct reader *r, size_t i)
{
	static const char *const verbs[][2] = { { "insert", "insert" },     { "replace", "insert" }, { "update", "update" },
		                                    { "delete", "delete" },     { "create", "create" },  { "alter", "alter" },
		                                    { "truncate", "TRUNCATE" }, { "drop", "DROP" },      { "show", "show" } };
	for (size_t v = 0; v < FH_ARRAY_SIZE(verbs); v++)
		if (word_is(r, i, verbs[v][0]))
			return verbs[v][1];
	return "select";
}

/* Whether the FROM at i is one of a clause, not of EXTRACT(YEAR FROM d) or IS DISTINCT FROM. */
static bool is_clause(const struct reader *r, size_t i)
{
	size_t depth = 0;
	if (i > 0 && word_is(r, i - 1, "distinct"))
		return false;
	for (size_t k = i; k-- > 0;) {
		if (sign_is(r, k, ')'))
			depth++;
		else if (sign_is(r, k, '(') && depth-- == 0)
			return word_is(r, k + 1, "select with");
	}
	return true;
}

/* One statement, tokens [from, to): its tables, and the columns that the statement itself changes. */
static void read_targets(struct reader *r, size_t from, size_t to)
{
	const char *verb = verb_of(r, from);
	bool first = true, plain = strcmp(verb, "select") == 0;
	if (strcmp(verb, "show") == 0)
		add(r->tables, verb, NULL, "null");
	for (size_t i = from; i < to; i++) {
		bool listed = (word_is(r, i, "from") && is_clause(r, i)) || word_is(r, i, "join straight_join");
		bool target = word_is(r, i, "into table") || (i == from && word_is(r, i, "update"));
		if (!listed && !target)
			continue;
		size_t at = i + 1;
		while (word_is(r, at, "if not exists ignore only lateral"))
			at++;
		bool of_verb = !plain && first && (target || strcmp(verb, "delete") == 0);
		const char *name = is_name(r, at) ? r->items[at].text : NULL;
		size_t end = word_is(r, i, "into table") ? read_table(r, at, of_verb ? verb : "select", false)
		                                         : read_tables(r, at, of_verb ? verb : "select");
		first = first && !of_verb;
		if (of_verb && name && strcmp(verb, "delete") == 0)
			add(r->columns, verb, name, "(.*)");
		if (of_verb && name && strcmp(verb, "insert") == 0 && !sign_is(r, end, '('))
			add(r->columns, verb, name, "(.*)");
		for (bool list = of_verb && strcmp(verb, "insert") == 0 && sign_is(r, end, '('); list && end < to; end++) {
			list = !sign_is(r, end, ')');
			r->items[end].taken = true;
			if (is_name(r, end))
				add(r->columns, verb, name, r->items[end].text);
		}
	}
}

/* Whether what ends before i is a value, so that a name at i is its alias and a star multiplies. */
static bool behind_value(const struct reader *r, size_t from, size_t i)
{
	return i > from && (is_name(r, i - 1) || r->items[i - 1].kind == VALUE || sign_is(r, i - 1, ')') ||
	                    word_is(r, i - 1, "end null true false") ||
	                    (sign_is(r, i - 1, '*') && i - 1 > from && sign_is(r, i - 2, '.')));
}

/* Reads the column at i and returns the index of its last token. */
static size_t read_column(struct reader *r, size_t i, const char *verb)
{
	const char *table = NULL, *column = r->items[i].text;
	for (; sign_is(r, i + 1, '.') && i + 2 < r->n; i += 2) {
		table = column;
		column = sign_is(r, i + 2, '*') ? "(.*)" : r->items[i + 2].text;
	}
	add(r->columns, verb, table ? table_of(r, table) : NULL, column);
	return i;
}

/* Whether the name at i is on the left side of an assignment of UPDATE … SET. */
static bool is_assigned(const struct reader *r, size_t from, size_t i)
{
	size_t end = i + 1;
	while (sign_is(r, end, '.') && is_name(r, end + 1))
		end += 2;
	if (!sign_is(r, end, '='))
		return false;
	for (size_t k = i; k-- > from;)
		if (word_is(r, k, "set"))
			return word_is(r, i - 1, "set") || sign_is(r, i - 1, ',');
		else if (word_is(r, k, "where"))
			return false;
	return false;
}

static void read_columns(struct reader *r, size_t from, size_t to)
{
	bool update = word_is(r, from, "update"), create = word_is(r, from, "create");
	for (size_t i = from; i < to; i++) {
		if (r->items[i].taken || (i > from && r->items[i - 1].kind == SIGN && r->items[i - 1].text[0] == ':'))
			continue;
		if (sign_is(r, i, '*') && i > from && (word_is(r, i - 1, "select distinct all") || sign_is(r, i - 1, ',')))
			add(r->columns, "select", NULL, "(.*)");
		if (!is_name(r, i) || (sign_is(r, i + 1, '(') && r->items[i].kind == WORD))
			continue;
		if ((i > from && word_is(r, i - 1, "as")) || behind_value(r, from, i) || sign_is(r, i - 1, '.'))
			continue;
		if (create && !sign_is(r, i - 1, '(') && !sign_is(r, i - 1, ','))
			continue;
		if (create)
			add(r->columns, "create", NULL, r->items[i].text);
		i = read_column(r, i, update && is_assigned(r, from, i) ? "update" : "select");
	}
}

void fh_sql_names(const char *sql, json_t *tables, json_t *columns)
{
	struct reader r = { .tables = tables, .columns = columns };
	split(&r, sql);
	for (size_t from = 0, to; from + 1 < r.n; from = to + 1) {
		for (to = from; to + 1 < r.n && !sign_is(&r, to, ';');)
			to++;
		r.n_aliases = 0;
		read_targets(&r, from, to);
		/* The names of WITH and of tables in parentheses are no columns. */
		for (size_t i = from; i < to; i++)
			if (is_name(&r, i) &&
			    ((i > from && sign_is(&r, i - 1, ')')) || (word_is(&r, i + 1, "as") && sign_is(&r, i + 2, '('))))
				r.items[i].taken = true;
		read_columns(&r, from, to);
	}
	for (size_t i = 0; i < r.n; i++)
		free(r.items[i].text);
	free(r.items);
	free(r.aliases);
}
