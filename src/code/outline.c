/* SPDX-License-Identifier: MIT */
#include "code/outline.h"

/* -------------------------------------------------------------------------------------------------- pieces of text */

bool fh_next_line(struct fh_str *rest, struct fh_str *ret_line)
{
	if (!rest->n)
		return false;
	const char *nl = memchr(rest->p, '\n', rest->n);
	size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
	*ret_line = (struct fh_str){ rest->p, n && rest->p[n - 1] == '\r' ? n - 1 : n };
	n += nl ? 1 : 0;
	*rest = (struct fh_str){ rest->p + n, rest->n - n };
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static struct fh_str cut(struct fh_str s, size_t n)
{
	n = FH_MIN(n, s.n);
	return (struct fh_str){ s.p + n, s.n - n };
}

static struct fh_str trim_front(struct fh_str s)
{
	while (s.n && is_blank(*s.p))
		s = cut(s, 1);
	return s;
}

static struct fh_str trim(struct fh_str s)
{
	s = trim_front(s);
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct fh_str fh_identifier(struct fh_str s)
{
	size_t n = 0;
	if (s.n && *s.p >= '0' && *s.p <= '9')
		return (struct fh_str){ s.p, 0 };
	while (n < s.n && is_word(s.p[n]))
		n++;
	return (struct fh_str){ s.p, n };
}

/* Whether s begins with the word; if so *rest is the text behind it, without leading blanks. */
static bool eat_word(struct fh_str *s, const char *word)
{
	size_t n = strlen(word);
	if (s->n < n || memcmp(s->p, word, n) != 0 || (s->n > n && is_word(s->p[n])))
		return false;
	*s = trim_front(cut(*s, n));
	return true;
}

static bool starts(struct fh_str s, const char *with)
{
	size_t n = strlen(with);
	return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool ends(struct fh_str s, const char *with)
{
	size_t n = strlen(with);
	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

static bool has(struct fh_str s, const char *what)
{
	return memmem(s.p, s.n, what, strlen(what)) != NULL;
}

static bool is_one_of(struct fh_str word, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (fh_str_eq(word, words[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ names */

static void add_name(struct fh_outline *o, struct fh_outline_item *item, struct fh_str name)
{
	if (!name.n)
		return;
	FH_PUSH(o->names, o->name_count, o->name_capacity) = name;
	item->count++;
}

/* Adds the names of "a, b as c, d" up to the end or a closing bracket; with `dotted`, "a.b" defines a. */
static void add_list(struct fh_outline *o, struct fh_outline_item *item, struct fh_str s, const char *as)
{
	while (s.n && !strchr(")};#", *s.p)) {
		struct fh_str name = fh_identifier(s);
		if (!name.n) {
			s = cut(s, 1);
			continue;
		}
		s = cut(s, name.n);
		while (s.n && *s.p == '.') /* "import a.b" defines only a */
			s = cut(s, 1 + fh_identifier(cut(s, 1)).n);
		s = trim_front(s);
		size_t n = strlen(as);
		if (starts(s, as) && (s.n == n || !is_word(as[n - 1]) || !is_word(s.p[n]))) {
			s = trim_front(cut(s, n));
			name = fh_identifier(s);
			s = cut(s, name.n);
		}
		add_name(o, item, name);
	}
}

/* Adds the names of "a = …", "a, b = …" or "a: int = …". */
static void add_assigned(struct fh_outline *o, struct fh_outline_item *item, struct fh_str s)
{
	struct fh_str found[16];
	size_t n = 0;
	for (;;) {
		struct fh_str name = fh_identifier(s);
		if (!name.n || n == FH_ARRAY_SIZE(found))
			return;
		found[n++] = name;
		s = trim_front(cut(s, name.n));
		if (!starts(s, ","))
			break;
		s = trim_front(cut(s, 1));
	}
	bool assigned = (starts(s, "=") && !starts(s, "==") && !starts(s, "=>")) || (starts(s, ":") && has(s, "="));
	for (size_t i = 0; assigned && i < n; i++)
		add_name(o, item, found[i]);
}

static void name_python(struct fh_outline *o, struct fh_outline_item *item)
{
	struct fh_str s = item->text, rest = item->text, line;
	/* Skips comments and decorators; the further lines of a decorator are indented or begin with a bracket. */
	while (fh_next_line(&rest, &line)) {
		s = (struct fh_str){ line.p, (size_t)(rest.p + rest.n - line.p) };
		if (line.n && !strchr("@# \t)]}", *line.p))
			break;
	}
	if (eat_word(&s, "import")) {
		item->is_import = true;
		struct fh_str names = { "", 0 };
		if (fh_next_line(&s, &names))
			add_list(o, item, names, "as");
	} else if (eat_word(&s, "from")) {
		const char *at = memmem(s.p, s.n, " import", 7);
		struct fh_str names = at ? trim_front(cut(s, (size_t)(at + 7 - s.p))) : cut(s, s.n);
		item->is_import = true;
		item->is_wanted = starts(names, "*") || starts(s, "__future__");
		add_list(o, item, starts(names, "(") ? cut(names, 1) : names, "as");
	} else {
		eat_word(&s, "async");
		if (eat_word(&s, "def") || eat_word(&s, "class"))
			add_name(o, item, fh_identifier(s));
		else
			add_assigned(o, item, s);
	}
}

static void name_javascript(struct fh_outline *o, struct fh_outline_item *item)
{
	struct fh_str s = trim_front(item->text);
	if (eat_word(&s, "import")) {
		const char *from = memmem(s.p, s.n, "from", 4);
		item->is_import = true;
		item->is_wanted = !from;
		struct fh_str names = { s.p, from ? (size_t)(from - s.p) : 0 };
		for (struct fh_str part; names.n; names = cut(names, part.n + 1)) {
			const char *brace = memchr(names.p, '{', names.n);
			part = (struct fh_str){ names.p, brace ? (size_t)(brace - names.p) : names.n };
			add_list(o, item, part, "as");
		}
		return;
	}
	if (eat_word(&s, "export"))
		eat_word(&s, "default");
	eat_word(&s, "async");
	if (starts(s, "module.exports."))
		s = cut(s, 15);
	else if (starts(s, "exports."))
		s = cut(s, 8);
	if (eat_word(&s, "function") || eat_word(&s, "class")) {
		s = starts(s, "*") ? trim_front(cut(s, 1)) : s;
		add_name(o, item, fh_identifier(s));
	} else if (eat_word(&s, "const") || eat_word(&s, "let") || eat_word(&s, "var")) {
		item->is_import = has(s, "require(");
		if (starts(s, "{") || starts(s, "["))
			add_list(o, item, cut(s, 1), ":");
		else
			add_name(o, item, fh_identifier(s));
	} else {
		add_assigned(o, item, s);
	}
}

/* The declared name is the identifier before the first of ( = ; [ {. */
static void name_c(struct fh_outline *o, struct fh_outline_item *item)
{
	struct fh_str s = trim_front(item->text);
	if (starts(s, "#")) {
		s = trim_front(cut(s, 1));
		if (eat_word(&s, "define"))
			add_name(o, item, fh_identifier(s));
		else
			item->is_import = item->is_wanted = true;
		return;
	}
	struct fh_str rest = s;
	if (eat_word(&rest, "using") && eat_word(&rest, "namespace"))
		item->is_import = item->is_wanted = true;
	size_t at = 0;
	while (at < s.n && !strchr("(=;[{", s.p[at]))
		at++;
	bool prototype = at < s.n && s.p[at] == '(' && !memchr(s.p, '{', s.n);
	while (at && is_blank(s.p[at - 1]))
		at--;
	size_t end = at;
	while (at && is_word(s.p[at - 1]))
		at--;
	if (!prototype)
		add_name(o, item, fh_identifier((struct fh_str){ s.p + at, end - at }));
}

static void name_bash(struct fh_outline *o, struct fh_outline_item *item)
{
	struct fh_str s = trim_front(item->text);
	bool function = eat_word(&s, "function");
	struct fh_str name = fh_identifier(s);
	struct fh_str after = trim_front(cut(s, name.n));
	if (function || starts(after, "()") || (starts(cut(s, name.n), "=")))
		add_name(o, item, name);
}

static void (*const fh_outline_namers[FH_SYNTAX_COUNT_])(struct fh_outline *o, struct fh_outline_item *item) = {
	[FH_SYNTAX_PYTHON] = name_python,
	[FH_SYNTAX_JAVASCRIPT] = name_javascript,
	[FH_SYNTAX_C] = name_c,
	[FH_SYNTAX_BASH] = name_bash,
};

/* ------------------------------------------------------------------------------------------------------- statements */

/* The state of the scan between two lines: inside of brackets, of an open string, of a comment. */
struct fh_lexer {
	int depth;
	char quote[4]; /* the characters that end the open string or comment; "": none is open */
};

static const char *const fh_python_quotes[] = { "\"\"\"", "'''", NULL };

static size_t lex_quoted(struct fh_lexer *l, struct fh_str s)
{
	size_t n = strlen(l->quote);
	if (starts(s, l->quote)) {
		l->quote[0] = 0;
		return n;
	}
	return s.p[0] == '\\' && l->quote[0] != '*' && s.n > 1 ? 2 : 1;
}

static void lex_open(struct fh_lexer *l, const char *end)
{
	memcpy(l->quote, end, strlen(end) + 1);
}

#define FH_REGEX_MAX 1000 /* a longer one is taken for a division, so that the scan stays linear */

/* Length of the regular expression that begins with the slash at `at`, which is possible only where a value may begin;
 * 0: it is a division. */
static size_t lex_regex(struct fh_str line, size_t at)
{
	size_t before = at;
	while (before && is_blank(line.p[before - 1]))
		before--;
	if (before && !strchr("(=,:[!&|?{};+", line.p[before - 1]))
		return 0;
	bool class = false;
	size_t end = FH_MIN(line.n, at + FH_REGEX_MAX);
	for (size_t i = at + 1; i < end; i++) {
		if (line.p[i] == '\\')
			i++;
		else if (line.p[i] == '[')
			class = true;
		else if (line.p[i] == ']')
			class = false;
		else if (line.p[i] == '/' && !class)
			return i + 1 - at;
	}
	return 0;
}

/* Scans one token outside of strings and comments; a comment up to the end of its line. */
static size_t lex_plain(struct fh_lexer *l, struct fh_str line, size_t at, enum fh_syntax syntax)
{
	struct fh_str s = cut(line, at);
	char c = *s.p;
	bool python = syntax == FH_SYNTAX_PYTHON, braces = syntax == FH_SYNTAX_JAVASCRIPT || syntax == FH_SYNTAX_C;
	if (c == '#' && (python || (syntax == FH_SYNTAX_BASH && (!at || is_blank(line.p[at - 1])))))
		return s.n;
	if (braces && starts(s, "//"))
		return s.n;
	if (braces && starts(s, "/*")) {
		lex_open(l, "*/");
		return 2;
	}
	for (size_t i = 0; python && fh_python_quotes[i]; i++) {
		if (starts(s, fh_python_quotes[i])) {
			lex_open(l, fh_python_quotes[i]);
			return 3;
		}
	}
	if (syntax == FH_SYNTAX_JAVASCRIPT && c == '/') {
		size_t n = lex_regex(line, at);
		return n ? n : 1;
	}
	/* a digit separator of C++, as in 1'000 */
	bool digit_mark = c == '\'' && syntax == FH_SYNTAX_C && at && is_word(line.p[at - 1]);
	if ((c == '"' || c == '\'' || (c == '`' && syntax == FH_SYNTAX_JAVASCRIPT)) && !digit_mark) {
		char end[2] = { c, 0 };
		lex_open(l, end);
	} else if (strchr("([{", c)) {
		l->depth++;
	} else if (strchr(")]}", c) && l->depth) {
		l->depth--;
	} else if (c == '\\') {
		return FH_MIN(s.n, (size_t)2);
	}
	return 1;
}

static void lex_line(struct fh_lexer *l, struct fh_str line, enum fh_syntax syntax)
{
	for (size_t at = 0; at < line.n;)
		at += l->quote[0] ? lex_quoted(l, cut(line, at)) : lex_plain(l, line, at, syntax);
	/* Only these literals may span lines; any other open quote is a mistake, or an apostrophe. */
	bool goes_on = l->quote[1] || (l->quote[0] && (syntax == FH_SYNTAX_BASH || l->quote[0] == '`'));
	if (!goes_on)
		l->quote[0] = 0;
}

/* Whether a line of Python, outside of brackets and strings, begins a new statement. */
static bool begins_python(struct fh_str line, struct fh_str previous)
{
	static const char *const clauses[] = { "else", "elif", "except", "finally", "case", NULL };
	if (!line.n || strchr(" \t)]}", *line.p) || is_one_of(fh_identifier(line), clauses))
		return false;
	/* A line behind a decorator or a comment continues the same statement. */
	return !starts(previous, "@") && !starts(previous, "#");
}

static bool begins_braced(struct fh_str line, struct fh_str previous, enum fh_syntax syntax)
{
	line = trim(line);
	previous = trim(previous);
	if (!line.n || starts(line, "}") || starts(line, ")"))
		return false;
	if (!previous.n || starts(previous, "#") || starts(previous, "//") || ends(previous, ";") || ends(previous, "}") ||
	    ends(previous, "*/"))
		return true;
	/* In JavaScript and Bash the line ends a statement, unless its end or the next line shows that it continues. */
	return syntax != FH_SYNTAX_C && !strchr("=+-*/&|,(?:.<>{\\", previous.p[previous.n - 1]) && !starts(line, ".") &&
	       !starts(line, "{");
}

static bool begins(struct fh_lexer *l, struct fh_str line, struct fh_str previous, enum fh_syntax syntax)
{
	struct fh_str s = line;
	/* These words without indentation cannot be inside of brackets: an earlier bracket was never closed. */
	if (syntax == FH_SYNTAX_PYTHON && l->depth && !l->quote[0] &&
	    (eat_word(&s, "def") || eat_word(&s, "class") || eat_word(&s, "import") || eat_word(&s, "from")))
		l->depth = 0;
	if (l->depth || l->quote[0])
		return false;
	return syntax == FH_SYNTAX_PYTHON ? begins_python(line, previous) : begins_braced(line, previous, syntax);
}

void fh_outline_make(struct fh_outline *o, struct fh_str text, enum fh_syntax syntax)
{
	*o = (struct fh_outline){ .syntax = syntax };
	struct fh_lexer lexer = { 0 };
	struct fh_str rest = text, line, previous = { "", 0 };
	while (fh_next_line(&rest, &line)) {
		size_t whole = (size_t)(rest.p - line.p);
		if (!o->n || (begins(&lexer, line, previous, syntax) && o->n < FH_OUTLINE_ITEMS_MAX))
			FH_PUSH(o->items, o->n, o->capacity).text = (struct fh_str){ line.p, 0 };
		o->items[o->n - 1].text.n += whole;
		lex_line(&lexer, line, syntax);
		if (trim(line).n)
			previous = line;
	}
	for (size_t i = 0; i < o->n; i++) {
		o->items[i].first = o->name_count;
		fh_outline_namers[syntax](o, &o->items[i]);
	}
}

void fh_outline_release(struct fh_outline *o)
{
	free(o->items);
	free(o->names);
	*o = (struct fh_outline){ 0 };
}

void fh_outline_add_imports(struct fh_buf *out, struct fh_str text, enum fh_syntax syntax)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_outline_make(&o, text, syntax);
	for (size_t i = 0; i < o.n; i++)
		if (o.items[i].is_import) {
			fh_buf_add(out, o.items[i].text.p, o.items[i].text.n);
			if (out->n && out->p[out->n - 1] != '\n')
				fh_buf_addc(out, '\n');
		}
}

bool fh_outline_defines(const struct fh_outline *o, struct fh_str name)
{
	for (size_t i = 0; i < o->name_count; i++)
		if (o->names[i].n == name.n && memcmp(o->names[i].p, name.p, name.n) == 0)
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- code, or a sentence */

static bool code_python(struct fh_str s)
{
	static const char *const headers[] = { "def",  "class", "if",     "for",     "while", "with",  "try",
		                                   "else", "elif",  "except", "finally", "async", "match", NULL };
	struct fh_str word = fh_identifier(s), rest = s;
	if (strchr("#@)]}\"'", *s.p))
		return true;
	if (eat_word(&rest, "import"))
		return !memchr(rest.p, ' ', rest.n) || has(rest, " as ") || has(rest, ",");
	if (eat_word(&rest, "from"))
		return has(rest, "import ");
	if (is_one_of(word, headers))
		return has(s, ":") && !ends(s, ".") && (!ends(s, ":") || word.n < s.n);
	if (eat_word(&rest, "return") || eat_word(&rest, "assert") || eat_word(&rest, "raise"))
		return !ends(s, ".");
	return false;
}

static bool code_braced(struct fh_str s)
{
	static const char *const words[] = { "function", "const",    "let",       "var",    "class",   "import", "export",
		                                 "async",    "template", "namespace", "struct", "typedef", NULL };
	if (starts(s, "//") || starts(s, "/*") || strchr("#*})", *s.p))
		return true;
	return ends(s, ";") || ends(s, "{") || ends(s, "}") || ends(s, "})") ||
	       (is_one_of(fh_identifier(s), words) && (has(s, "(") || has(s, "=") || has(s, "{")));
}

static bool code_bash(struct fh_str s)
{
	static const char *const words[] = { "echo", "read",  "printf", "cat",  "grep",    "awk",  "sed",  "ls",
		                                 "set",  "local", "export", "exit", "case",    "esac", "done", "fi",
		                                 "then", "else",  "do",     "cd",   "declare", "sort", "tr",   "cut",
		                                 "head", "tail",  "wc",     "find", "mkdir",   NULL };
	struct fh_str word = fh_identifier(s), after = cut(s, word.n);
	if (*s.p == '#' || *s.p == '}' || starts(after, "=") || starts(trim_front(after), "()"))
		return true;
	if (starts(s, "if [") || starts(s, "if (") || starts(s, "while ") || starts(s, "for ") || starts(s, "elif "))
		return has(s, ";") || ends(s, "]") || ends(s, ")") || has(s, " in ");
	return is_one_of(word, words) && !ends(s, ".") && !ends(s, ":");
}

/* Whether a text looks like "name = …", "name(…", "name.x(…" or "name[…", which are code in any syntax and no
 * sentence. */
static bool code_any(struct fh_str s)
{
	struct fh_str word = fh_identifier(s);
	struct fh_str rest = cut(s, word.n);
	if (!word.n)
		return false;
	while (starts(rest, ".") && fh_identifier(cut(rest, 1)).n)
		rest = cut(rest, 1 + fh_identifier(cut(rest, 1)).n);
	if (starts(rest, "(") || starts(rest, "["))
		return true;
	rest = trim_front(rest);
	return starts(rest, "=") || starts(rest, "+=") || starts(rest, "-=") || starts(rest, "*=") ||
	       (starts(rest, ":") && has(rest, " = "));
}

bool fh_outline_is_code_line(struct fh_str line, enum fh_syntax syntax)
{
	static bool (*const checks[FH_SYNTAX_COUNT_])(struct fh_str s) = {
		[FH_SYNTAX_PYTHON] = code_python,
		[FH_SYNTAX_JAVASCRIPT] = code_braced,
		[FH_SYNTAX_C] = code_braced,
		[FH_SYNTAX_BASH] = code_bash,
	};
	struct fh_str s = trim(line);
	if (!s.n || is_blank(*line.p))
		return true;
	return checks[syntax](s) || (syntax != FH_SYNTAX_BASH && code_any(s));
}

bool fh_outline_is_start_line(struct fh_str line, enum fh_syntax syntax)
{
	static const char *const starters[FH_SYNTAX_COUNT_][12] = {
		[FH_SYNTAX_PYTHON] = { "def", "class", "import", "from", "async", NULL },
		[FH_SYNTAX_JAVASCRIPT] = { "function", "const", "let", "var", "class", "import", "export", "async", NULL },
		[FH_SYNTAX_C] = { "int", "void", "char", "long", "double", "float", "struct", "static", "template", "using",
		                  "bool", NULL },
		[FH_SYNTAX_BASH] = { "function", NULL },
	};
	if (!line.n || is_blank(*line.p))
		return false;
	bool mark = (syntax == FH_SYNTAX_C && starts(line, "#include")) || starts(line, "#!") ||
	            (syntax == FH_SYNTAX_PYTHON && starts(line, "@") && !has(line, " "));
	return mark || (is_one_of(fh_identifier(line), starters[syntax]) && fh_outline_is_code_line(line, syntax));
}

bool fh_python_imports(struct fh_str text, const char *module)
{
	for (struct fh_str line; fh_next_line(&text, &line);) {
		while (line.n && (*line.p == ' ' || *line.p == '\t')) {
			line.p++;
			line.n--;
		}
		bool is_import = fh_str_begins(line, "import ") || fh_str_begins(line, "from ");
		if (is_import && memmem(line.p, line.n, module, strlen(module)))
			return true;
	}
	return false;
}
