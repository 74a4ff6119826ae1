/* SPDX-License-Identifier: MIT */
#include "code/literal.h"

#include "code/declaration.h"

#define NESTED_MAX 256 /* depth of brackets; deeper ones are not checked */

/* The end of the literal that begins at s[i]. */
static size_t skip_quoted(struct fh_str s, size_t i, bool has_lines)
{
	char quote = s.p[i];
	for (i++; i < s.n; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (s.p[i] == quote)
			return i + 1;
		else if (s.p[i] == '\n' && !has_lines)
			return i;
	}
	return s.n;
}

static size_t line_end(struct fh_str s, size_t i)
{
	const char *end = memchr(s.p + i, '\n', s.n - i);
	return end ? (size_t)(end - s.p) : s.n;
}

static size_t skip_python(struct fh_str s, size_t i)
{
	char c = s.p[i];
	if (c == '#')
		return line_end(s, i);
	if (c != '"' && c != '\'')
		return i;
	if (s.n - i < 3 || s.p[i + 1] != c || s.p[i + 2] != c)
		return skip_quoted(s, i, false);
	for (size_t k = i + 3; k + 3 <= s.n; k++) {
		if (s.p[k] == '\\')
			k++;
		else if (s.p[k] == c && s.p[k + 1] == c && s.p[k + 2] == c)
			return k + 3;
	}
	return s.n;
}

/* A comment begins where a word could: not in $# or ${#1}. */
static size_t skip_bash(struct fh_str s, size_t i)
{
	if (s.p[i] == '#' && (i == 0 || strchr(" \t\n;()", s.p[i - 1])))
		return line_end(s, i);
	return s.p[i] == '"' || s.p[i] == '\'' ? skip_quoted(s, i, true) : i;
}

static size_t skip_braced(struct fh_str s, size_t i)
{
	return s.p[i] == '`' ? skip_quoted(s, i, true) : fh_cpp_skip(s, i);
}

/* In single quotes stands a text of any length: 'a b', which in C would be a character and in Rust a lifetime. */
static size_t skip_javascript(struct fh_str s, size_t i)
{
	return s.p[i] == '"' || s.p[i] == '\'' ? skip_quoted(s, i, false) : skip_braced(s, i);
}

static size_t (*const skip[FH_SYNTAX_COUNT_])(struct fh_str s, size_t i) = {
	[FH_SYNTAX_PYTHON] = skip_python,
	[FH_SYNTAX_JAVASCRIPT] = skip_javascript,
	[FH_SYNTAX_C] = skip_braced,
	[FH_SYNTAX_BASH] = skip_bash,
};

size_t fh_literal_end(struct fh_str s, size_t i, enum fh_syntax syntax)
{
	return FH_MIN(skip[syntax](s, i), s.n);
}

/* --------------------------------------------------------------------------------------------------- completeness */

/* Appends the text with its comments and the contents of its literals replaced by blanks; the quotes stay. */
static void blank(struct fh_buf *out, struct fh_str s, enum fh_syntax syntax)
{
	for (size_t i = 0; i < s.n;) {
		size_t end = fh_literal_end(s, i, syntax);
		if (end == i) {
			fh_buf_addc(out, s.p[i++]);
			continue;
		}
		bool quoted = strchr("\"'`", s.p[i]) != NULL;
		for (size_t k = i; k < end; k++)
			fh_buf_addc(out, s.p[k] == '\n' ? '\n' : quoted && (k == i || k + 1 == end) ? s.p[k] : ' ');
		i = end;
	}
}

static bool brackets_close(struct fh_str blanked)
{
	static const char open[] = "([{", close[] = ")]}";
	char nested[NESTED_MAX];
	size_t depth = 0;
	for (size_t i = 0; i < blanked.n; i++) {
		const char *opens = blanked.p[i] ? strchr(open, blanked.p[i]) : NULL;
		const char *closes = blanked.p[i] ? strchr(close, blanked.p[i]) : NULL;
		if (opens && depth == NESTED_MAX)
			return true;
		if (opens)
			nested[depth++] = close[opens - open];
		else if (closes && (depth == 0 || nested[--depth] != *closes))
			return false;
	}
	return depth == 0;
}

/* Whether every literal is closed. */
static bool literals_close(struct fh_str s, enum fh_syntax syntax)
{
	for (size_t i = 0; i < s.n;) {
		size_t end = fh_literal_end(s, i, syntax);
		if (end > i && strchr("\"'`", s.p[i]) && (end - i < 2 || s.p[end - 1] != s.p[i]))
			return false;
		i = FH_MAX(end, i + 1);
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether a function's body, given as blanked text, does anything. */
static bool does_something(struct fh_str body)
{
	static const char *const nothing[] = { "pass", "..." };
	for (size_t i = 0; i < body.n;) {
		size_t n = is_blank(body.p[i]) || strchr("\"'`", body.p[i]) ? 1 : 0;
		for (size_t k = 0; k < FH_ARRAY_SIZE(nothing) && n == 0; k++)
			if (fh_str_begins(fh_str_from(body, i), nothing[k]))
				n = strlen(nothing[k]);
		if (n == 0)
			return true;
		i += n;
	}
	return false;
}

/* Whether `def name` is followed by lines that are indented deeper and do something. */
static bool python_has_body(struct fh_str blanked, struct fh_str name)
{
	struct fh_str rest = blanked, line;
	bool found = false;
	while (fh_next_line(&rest, &line)) {
		size_t at = 0;
		while (at < line.n && is_blank(line.p[at]))
			at++;
		struct fh_str code = fh_str_from(line, at);
		bool async = fh_str_begins(code, "async ");
		struct fh_str def = async ? fh_str_from(code, strlen("async ")) : code;
		if (!fh_str_begins(def, "def ") || !fh_str_same(fh_identifier(fh_str_from(def, 4)), name))
			continue;
		found = true;
		struct fh_str body = { rest.p, 0 };
		long round = 0;
		size_t i = (size_t)(def.p - blanked.p);
		for (; i < blanked.n && (blanked.p[i] != ':' || round > 0); i++) /* the head may span several lines */
			round += (blanked.p[i] == '(' || blanked.p[i] == '[') - (blanked.p[i] == ')' || blanked.p[i] == ']');
		struct fh_str after = fh_str_from(blanked, FH_MIN(i + 1, blanked.n));
		if (!fh_next_line(&after, &line))
			continue;
		body = line;
		if (does_something(body))
			return true;
		while (fh_next_line(&after, &line)) {
			size_t deep = 0;
			while (deep < line.n && is_blank(line.p[deep]))
				deep++;
			if (deep < line.n && deep <= at)
				break;
			if (does_something(line))
				return true;
		}
	}
	return !found;
}

static bool begins_compound(struct fh_str statement)
{
	static const char *const words[] = { "if",  "elif", "else",   "for",     "while", "def",
		                                 "try", "with", "except", "finally", "class", "async" };
	struct fh_str word = fh_identifier(statement);
	for (size_t k = 0; k < FH_ARRAY_SIZE(words); k++)
		if (fh_str_eq(word, words[k]))
			return true;
	return false;
}

/* Whether the head of each compound statement of Python ends with a colon. */
static bool python_heads_end(struct fh_str blanked)
{
	bool head = false, start = true; /* start: nothing but blanks in this line so far */
	long depth = 0;                  /* of brackets */
	for (size_t i = 0; i < blanked.n; i++) {
		char c = blanked.p[i];
		if (start && !is_blank(c)) {
			head = depth == 0 && begins_compound(fh_str_from(blanked, i));
			start = false;
		}
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		if (depth != 0)
			continue;
		head = head && c != ':';
		bool ends = c == '\n' && (i == 0 || blanked.p[i - 1] != '\\');
		if (head && ends)
			return false;
		start = start || ends;
	}
	return !head;
}

bool fh_looks_complete(struct fh_str text, struct fh_str name, enum fh_syntax syntax)
{
	fh_auto_buf struct fh_buf blanked = FH_BUF_INIT(0);
	blank(&blanked, text, syntax);
	if (!brackets_close(fh_buf_str(&blanked)) || !literals_close(text, syntax))
		return false;
	return syntax != FH_SYNTAX_PYTHON ||
	       (python_heads_end(fh_buf_str(&blanked)) && (name.n == 0 || python_has_body(fh_buf_str(&blanked), name)));
}
