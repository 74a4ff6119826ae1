/* SPDX-License-Identifier: MIT */
#include "code/signature.h"

#include "base/error.h"
#include "code/declaration.h"
#include "code/outline.h"

#define TRIED_MAX 256 /* top-level braces that are tried; each one takes a scan from the beginning of the text */

/* ------------------------------------------------------------------------------------------------------- the text */

/* Skips a literal, also a raw string of Go: in the other languages a back quote occurs only in literals and
 * comments. */
static size_t skip_literal(struct fh_str s, size_t i)
{
	if (s.p[i] != '`')
		return fh_cpp_skip(s, i);
	const char *end = memchr(s.p + i + 1, '`', s.n - i - 1);
	return end ? (size_t)(end - s.p) + 1 : s.n;
}

void fh_signature_blank(struct fh_buf *out, struct fh_str s)
{
	for (size_t i = 0; i < s.n;) {
		size_t next = skip_literal(s, i);
		if (next == i) {
			fh_buf_addc(out, s.p[i++]);
			continue;
		}
		bool comment = s.p[i] == '/';
		for (; i < next; i++)
			fh_buf_addc(out, s.p[i] == '\n' ? '\n' : comment ? ' ' : s.p[i] == '"' || s.p[i] == '\'' ? s.p[i] : 'x');
	}
}

static struct fh_str trim(struct fh_str s)
{
	while (s.n > 0 && fh_signature_space(s.p[0]))
		s = (struct fh_str){ s.p + 1, s.n - 1 };
	while (s.n > 0 && fh_signature_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* The identifier at the end of s; empty when there is none. */
static struct fh_str last_word(struct fh_str s)
{
	size_t from = s.n;
	while (from > 0 && is_word_byte(s.p[from - 1]))
		from--;
	while (from < s.n && s.p[from] >= '0' && s.p[from] <= '9')
		from++;
	return (struct fh_str){ s.p + from, s.n - from };
}

static size_t end_of_directive(struct fh_str s, size_t i)
{
	while (i < s.n && (s.p[i] != '\n' || s.p[i - 1] == '\\'))
		i++;
	return i;
}

/* Finds the last `{` that opens a body at depth `level` and is not closed, and where its item begins. */
static bool find_body(struct fh_str s, long level, size_t *ret_start, size_t *ret_brace)
{
	size_t start = 0, item = 0, brace = s.n;
	long depth = 0, round = 0; /* depth: of braces; round: of parentheses, where a brace belongs to a default value */
	bool line_start = true;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '#' && line_start && level == 0) {
			i = end_of_directive(s, i);
			item = depth == 0 ? i : item;
			continue;
		}
		line_start = c == '\n' || (line_start && fh_signature_space(c));
		round += depth == level ? (c == '(') - (c == ')') : 0;
		if (c == '{' && depth++ == level && round == 0) {
			start = item;
			brace = i;
		} else if (c == '}') {
			depth--;
		}
		if (strchr("{};", c) && depth == level && round == 0)
			item = i + 1;
	}
	*ret_start = start;
	*ret_brace = brace;
	return depth > level && brace < s.n;
}

/* -------------------------------------------------------------------------------------------------- the signature */

static int unfit(struct fh_error *err, const char *why)
{
	return fh_error_set(err, FH_E_UNAVAILABLE, "the entry point %s", why);
}

/* Words before the name that make it something other than a plain function. */
static const struct {
	const char *word, *why;
} barred[] = {
	{ "template", "is a template" },
	{ "class", "is a class" },
	{ "struct", "is a struct" },
	{ "union", "is a union" },
	{ "enum", "is an enumeration" },
	{ "namespace", "is a namespace" },
	{ "static", "is static" },
	{ "inline", "is inline" },
	{ "constexpr", "is constexpr" },
	{ "consteval", "is consteval" },
	{ "extern", "has C linkage" },
	{ "operator", "is an operator" },
	{ "auto", "has no result type in its declaration" },
	{ "decltype", "has no plain result type" },
	{ "virtual", "is a member function" },
	{ "friend", "is a friend" },
	{ "using", "is not a function" },
	{ "typedef", "is not a function" },
};

static int check_result(struct fh_str result, struct fh_error *err)
{
	for (size_t i = 0; i < result.n; i++) {
		if (!is_word_byte(result.p[i]) || (i > 0 && is_word_byte(result.p[i - 1])))
			continue;
		struct fh_str word = { result.p + i, 0 };
		while (i + word.n < result.n && is_word_byte(result.p[i + word.n]))
			word.n++;
		for (size_t k = 0; k < FH_ARRAY_SIZE(barred); k++)
			if (fh_str_eq(word, barred[k].word))
				return unfit(err, barred[k].why);
	}
	return 0;
}

/* Position of the first of `stops` outside of all brackets, or s.n. Angle brackets count as brackets: a default value
 * with a comparison is split wrongly, and the stand-in then does not compile. */
static size_t find_outside(struct fh_str s, const char *stops)
{
	long depth = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (depth == 0 && strchr(stops, s.p[i]))
			return i;
		if (strchr("([{<", s.p[i]))
			depth++;
		else if (strchr(")]}", s.p[i]) || (s.p[i] == '>' && i > 0 && s.p[i - 1] != '-'))
			depth--;
	}
	return s.n;
}

/* Position behind the `>` that closes the `<` at the beginning of s. */
static size_t find_closing_angle(struct fh_str s)
{
	long depth = 0;
	for (size_t i = 0; i < s.n; i++) {
		depth += (s.p[i] == '<') - (s.p[i] == '>');
		if (depth == 0)
			return i + 1;
	}
	return s.n;
}

static const char *const type_words[] = { "int",  "long",   "short", "char", "unsigned", "signed",
	                                      "bool", "double", "float", "void", "const",    "volatile" };

/* The name is the last word, if something that can be a type is left without it. */
static struct fh_str parameter_name(struct fh_str type)
{
	struct fh_str none = { type.p, 0 }, name = last_word(type);
	struct fh_str rest = trim((struct fh_str){ type.p, type.n - name.n });
	for (size_t i = 0; i < FH_ARRAY_SIZE(type_words); i++)
		if (fh_str_eq(name, type_words[i]))
			return none;
	if (rest.n == 0 || rest.p[rest.n - 1] == ':' || fh_str_eq(rest, "const") || fh_str_eq(rest, "volatile"))
		return none;
	return name;
}

static int read_parameters(struct fh_signature *s, struct fh_str list, bool arrays, struct fh_error *err)
{
	list = trim(list);
	if (fh_str_eq(list, "void"))
		return 0;
	while (list.n > 0) {
		if (s->parameter_count == FH_SIGNATURE_PARAMETERS_MAX)
			return unfit(err, "has too many parameters");
		size_t n = find_outside(list, ",");
		struct fh_str one = { list.p, n };
		list = (struct fh_str){ list.p + n + (n < list.n), list.n - n - (n < list.n) };
		one.n = find_outside(one, "=");
		one = trim(one);
		if (one.n == 0)
			return unfit(err, "has a parameter that is empty");
		if (!arrays && memchr(one.p, '[', one.n))
			return unfit(err, "takes an array by its address");
		if (memmem(one.p, one.n, "...", 3) || find_outside(one, "(") < one.n)
			return unfit(err, "takes a function, or arguments without types");
		if (memmem(one.p, one.n, "function<", 9))
			return unfit(err, "takes a function");
		s->parameters[s->parameter_count++] = (struct fh_parameter){ one, parameter_name(one) };
	}
	return 0;
}

/* Position of the `(` that the `)` at s[close] closes. */
static size_t matching(struct fh_str s, size_t close)
{
	long depth = 0;
	for (size_t i = close + 1; i-- > 0;) {
		depth += (s.p[i] == ')') - (s.p[i] == '(');
		if (depth == 0)
			return i;
	}
	return s.n;
}

size_t fh_signature_closing(struct fh_str s, size_t open)
{
	long depth = 0;
	for (size_t i = open; i < s.n; i++) {
		depth += (s.p[i] == '(') - (s.p[i] == ')');
		if (depth == 0)
			return i;
	}
	return s.n;
}

static int read_signature(struct fh_signature *s, struct fh_error *err)
{
	struct fh_str text = trim((struct fh_str){ s->text.p + s->start, s->end - s->start });
	size_t n = text.n;
	if (n > 8 && memcmp(text.p + n - 8, "noexcept", 8) == 0)
		text = trim((struct fh_str){ text.p, n - 8 });
	int r = check_result((struct fh_str){ text.p, find_outside(text, "(") }, err);
	if (r < 0)
		return r;
	if (text.n == 0 || text.p[text.n - 1] != ')')
		return unfit(err, "is not a plain function");
	size_t open = matching(text, text.n - 1);
	if (open >= text.n)
		return unfit(err, "is not a plain function");
	struct fh_str before = trim((struct fh_str){ text.p, open });
	s->name = last_word(before);
	s->result = trim((struct fh_str){ before.p, before.n - s->name.n });
	if (s->name.n == 0 || s->result.n == 0)
		return unfit(err, "is not a plain function");
	if (s->result.p[s->result.n - 1] == ':')
		return unfit(err, "is a member function");
	if (s->result.p[s->result.n - 1] == '&')
		return unfit(err, "gives a reference");
	return read_parameters(s, (struct fh_str){ text.p + open + 1, text.n - open - 2 }, false, err);
}

/* Removes modifiers, type parameters and annotations before a result's type. */
static struct fh_str java_type(struct fh_str s)
{
	static const char *const modifiers[] = { "public",       "private",  "protected", "static",
		                                     "synchronized", "strictfp", "final" };
	for (bool found = true; found;) {
		found = false;
		s = trim(s);
		for (size_t i = 0; i < FH_ARRAY_SIZE(modifiers); i++) {
			size_t n = strlen(modifiers[i]);
			if (s.n <= n || memcmp(s.p, modifiers[i], n) != 0 || is_word_byte(s.p[n]))
				continue;
			s = (struct fh_str){ s.p + n, s.n - n };
			found = true;
		}
		size_t end = s.n > 0 && s.p[0] == '<' ? find_closing_angle(s) : 0;
		if (s.n > 0 && s.p[0] == '@')
			for (end = 1; end < s.n && is_word_byte(s.p[end]);)
				end++;
		s = (struct fh_str){ s.p + end, s.n - end };
		found = found || end > 0;
	}
	return s;
}

static int read_java(struct fh_signature *s, struct fh_error *err)
{
	struct fh_str text = trim((struct fh_str){ s->text.p + s->start, s->end - s->start });
	const char *throws = memmem(text.p, text.n, ") throws ", 9);
	if (throws)
		text.n = throws + 1 - text.p;
	if (text.n == 0 || text.p[text.n - 1] != ')')
		return unfit(err, "is not a plain method");
	size_t open = matching(text, text.n - 1);
	if (open >= text.n)
		return unfit(err, "is not a plain method");
	struct fh_str before = trim((struct fh_str){ text.p, open });
	s->name = last_word(before);
	s->result = java_type((struct fh_str){ before.p, before.n - s->name.n });
	if (s->name.n == 0 || s->result.n == 0)
		return unfit(err, "is not a plain method");
	return read_parameters(s, (struct fh_str){ text.p + open + 1, text.n - open - 2 }, true, err);
}

static int read_rust_parameters(struct fh_signature *s, struct fh_str list, struct fh_error *err)
{
	list = trim(list);
	while (list.n > 0) {
		size_t n = find_outside(list, ",");
		struct fh_str one = trim((struct fh_str){ list.p, n });
		list = trim((struct fh_str){ list.p + n + (n < list.n), list.n - n - (n < list.n) });
		const char *colon = memchr(one.p, ':', one.n);
		if (!colon || s->parameter_count == FH_SIGNATURE_PARAMETERS_MAX)
			return unfit(err, colon ? "has too many parameters" : "is a member function");
		struct fh_str name = last_word(trim((struct fh_str){ one.p, colon - one.p }));
		struct fh_str type = trim((struct fh_str){ colon + 1, one.p + one.n - colon - 1 });
		if (name.n == 0)
			return unfit(err, "has a parameter that is a pattern");
		s->parameters[s->parameter_count++] = (struct fh_parameter){ type, name };
	}
	return 0;
}

/* Whether a list "<'a, 'b: 'a>" has only lifetimes and is closed. */
static bool are_lifetimes(struct fh_str list)
{
	if (list.n < 2 || list.p[list.n - 1] != '>')
		return false;
	list = (struct fh_str){ list.p + 1, list.n - 2 };
	while (list.n > 0) {
		size_t n = find_outside(list, ",");
		struct fh_str one = trim((struct fh_str){ list.p, n });
		if (one.n > 0 && one.p[0] != '\'')
			return false;
		list = (struct fh_str){ list.p + n + (n < list.n), list.n - n - (n < list.n) };
	}
	return true;
}

static int read_rust(struct fh_signature *s, struct fh_error *err)
{
	struct fh_str text = trim((struct fh_str){ s->text.p + s->start, s->end - s->start });
	size_t open = find_outside(text, "(<"), close;
	if (open >= text.n)
		return unfit(err, "is not a plain function");
	struct fh_str before = { text.p, open };
	s->lifetimes = (struct fh_str){ text.p + open, 0 };
	if (text.p[open] == '<') {
		s->lifetimes.n = find_closing_angle((struct fh_str){ text.p + open, text.n - open });
		open += s->lifetimes.n;
		if (!are_lifetimes(s->lifetimes))
			return unfit(err, "is generic");
		open += find_outside((struct fh_str){ text.p + open, text.n - open }, "(");
	}
	s->name = last_word(trim(before));
	before = trim((struct fh_str){ before.p, trim(before).n - s->name.n });
	if (s->name.n == 0 || open >= text.n || (!fh_str_eq(before, "fn") && !fh_str_eq(before, "pub fn")))
		return unfit(err, "is not a plain function");
	close = fh_signature_closing(text, open);
	struct fh_str after = trim((struct fh_str){ text.p + close + 1, text.n - FH_MIN(text.n, close + 1) });
	s->result = (struct fh_str){ after.p, 0 };
	if (after.n > 2 && memcmp(after.p, "->", 2) == 0)
		s->result = trim((struct fh_str){ after.p + 2, after.n - 2 });
	else if (after.n > 0)
		return unfit(err, "is not a plain function");
	return read_rust_parameters(s, (struct fh_str){ text.p + open + 1, close - open - 1 }, err);
}

/* Reads parameters such as (a, b int, s string, more ...T). Go has names for all or for none; without names nothing is
 * read. */
static void read_go_parameters(struct fh_signature *s, struct fh_str list)
{
	for (size_t n; list.n > 0; list = trim((struct fh_str){ list.p + n, list.n - n })) {
		n = find_outside(list, ",");
		struct fh_str one = trim((struct fh_str){ list.p, n });
		n += n < list.n;
		struct fh_str name = { one.p, 0 };
		while (name.n < one.n && is_word_byte(one.p[name.n]))
			name.n++;
		bool typed = name.n < one.n && fh_signature_space(one.p[name.n]), last = n == list.n;
		if (name.n == 0 || fh_str_eq(name, "_") || (name.n < one.n && !typed) || (last && !typed) ||
		    s->parameter_count == FH_SIGNATURE_PARAMETERS_MAX) {
			s->parameter_count = 0;
			return;
		}
		s->parameters[s->parameter_count++] = (struct fh_parameter){ one, name };
	}
}

/* The function's type, without the word func, is kept as the result. */
static int read_go(struct fh_signature *s, struct fh_error *err)
{
	static const char word[] = "func ";
	size_t n = strlen(word), at = s->end;
	while (at > 0 && (s->end - at < n || memcmp(s->text.p + at, word, n) != 0 || (at > 0 && s->text.p[at - 1] != '\n')))
		at--;
	if (s->end < n || memcmp(s->text.p + at, word, n) != 0)
		return unfit(err, "is not a plain function");
	struct fh_str rest = trim((struct fh_str){ s->text.p + at + n, s->end - at - n });
	s->start = at;
	s->name = (struct fh_str){ rest.p, 0 };
	while (s->name.n < rest.n && is_word_byte(rest.p[s->name.n]))
		s->name.n++;
	rest = trim((struct fh_str){ rest.p + s->name.n, rest.n - s->name.n });
	if (s->name.n == 0)
		return unfit(err, rest.n > 0 && rest.p[0] == '(' ? "is a method" : "is not a plain function");
	if (rest.n == 0 || rest.p[0] != '(')
		return unfit(err, rest.n > 0 && rest.p[0] == '[' ? "is generic" : "is not a plain function");
	if (fh_str_eq(s->name, "main") || fh_str_eq(s->name, "init"))
		return unfit(err, "is one that nothing can call");
	if (fh_mentions(rest, fh_str("func"), NULL) || fh_mentions(rest, fh_str("chan"), NULL))
		return unfit(err, "takes or gives a function or a channel");
	s->result = rest;
	size_t close = fh_signature_closing(rest, 0);
	if (close < rest.n)
		read_go_parameters(s, trim((struct fh_str){ rest.p + 1, close - 1 }));
	return 0;
}

typedef int reader(struct fh_signature *s, struct fh_error *err);

static int read_declaration(struct fh_str declaration, long level, reader *read, struct fh_signature *ret,
                            struct fh_error *err)
{
	struct fh_signature s = { .text = FH_BUF_INIT(0) };
	fh_signature_blank(&s.text, declaration);
	int r = 0;
	if (!find_body(fh_buf_str(&s.text), level, &s.start, &s.end))
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the declaration does not open a function's body");
	if (r >= 0)
		r = read(&s, err);
	if (r < 0) {
		fh_signature_release(&s);
		return r;
	}
	*ret = s;
	return 0;
}

int fh_cpp_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err)
{
	return read_declaration(declaration, 0, read_signature, ret, err);
}

int fh_java_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err)
{
	return read_declaration(declaration, 1, read_java, ret, err);
}

int fh_rust_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err)
{
	return read_declaration(declaration, 0, read_rust, ret, err);
}

int fh_go_signature(struct fh_str declaration, struct fh_signature *ret, struct fh_error *err)
{
	return read_declaration(declaration, 0, read_go, ret, err);
}

static struct fh_str name_of(struct fh_str declaration, long level, reader *read)
{
	fh_auto_signature struct fh_signature s = { 0 };
	if (read_declaration(declaration, level, read, &s, NULL) < 0)
		return (struct fh_str){ "", 0 };
	return (struct fh_str){ declaration.p + (s.name.p - s.text.p), s.name.n };
}

struct fh_str fh_cpp_name(struct fh_str declaration)
{
	return name_of(declaration, 0, read_signature);
}

struct fh_str fh_java_name(struct fh_str declaration)
{
	return name_of(declaration, 1, read_java);
}

/* Reads the name alone, of a function for which no stand-in can be made as well: a generic one, a method. */
static int read_rust_name(struct fh_signature *s, struct fh_error *err)
{
	struct fh_str text = { s->text.p + s->start, s->end - s->start };
	for (size_t i = 0, n; i < text.n; i += FH_MAX(n, (size_t)1)) {
		struct fh_str word = fh_identifier(fh_str_from(text, i));
		n = word.n;
		if (!fh_str_eq(word, "fn"))
			continue;
		s->name = fh_identifier(trim(fh_str_from(text, i + n)));
		if (s->name.n > 0)
			return 0;
	}
	return unfit(err, "is not a plain function");
}

struct fh_str fh_rust_name(struct fh_str declaration)
{
	struct fh_str name = name_of(declaration, 0, read_rust_name);
	return name.n ? name : name_of(declaration, 1, read_rust_name);
}

static struct fh_str declaration_of(struct fh_str program, struct fh_str name, reader *read)
{
	fh_auto_buf struct fh_buf blanked = FH_BUF_INIT(0);
	struct fh_str found = { program.p, 0 };
	long depth = 0;
	fh_signature_blank(&blanked, program);
	for (size_t i = 0, tried = 0; i < program.n && found.n == 0 && tried < TRIED_MAX; i++) {
		char c = blanked.p[i];
		struct fh_str declaration = { program.p, i + 1 };
		if (c == '{' && depth == 0 && ++tried && fh_str_same(name_of(declaration, 0, read), name))
			found = declaration;
		depth += (c == '{') - (c == '}');
	}
	return found;
}

struct fh_str fh_cpp_declaration_of(struct fh_str program, struct fh_str name)
{
	return declaration_of(program, name, read_signature);
}

struct fh_str fh_go_declaration_of(struct fh_str program, struct fh_str name)
{
	return declaration_of(program, name, read_go);
}

struct fh_str fh_go_name(struct fh_str declaration)
{
	return name_of(declaration, 0, read_go);
}

void fh_signature_release(struct fh_signature *s)
{
	fh_buf_release(&s->text);
	*s = (struct fh_signature){ 0 };
}
