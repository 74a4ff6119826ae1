/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <stdio.h>

static const char *const operators[] = { "===", "!==", "==", "!=", "<=", ">=", "//", "**", "(", ")",
	                                     "[",   "]",   "{",  "}",  "%",  "*",  "-",  "+",  "~", "/",
	                                     "#",   ",",   ":",  "|",  ".",  "<",  ">",  "=",  "!" };
static const char delimiters[] = "()[]{}%*-+~/#,:|.<>=! \n\t\r\f\v\"'";

struct lexer {
	struct fh_str source;
	size_t at;
	size_t counted; /* the offset that `line` and `column` belong to */
	uint32_t line, column;
	const char *name;
	struct fh_tpl_tokens *out;
	struct fh_error *err;
	bool trim_next; /* the last tag ended with -, which trims the text behind it */
};

static bool looking_at(const struct lexer *l, size_t at, const char *text)
{
	size_t n = strlen(text);
	return at <= l->source.n && n <= l->source.n - at && memcmp(l->source.p + at, text, n) == 0;
}

static char char_at(const struct lexer *l, size_t at)
{
	return at < l->source.n ? l->source.p[at] : '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Counts lines and columns up to an offset, which is never smaller than the last one. */
static void count_to(struct lexer *l, size_t at)
{
	for (; l->counted < at; l->counted++) {
		char c = l->source.p[l->counted];
		if (c == '\n')
			l->line++, l->column = 1;
		else if (((unsigned char)c & 0xC0) != 0x80)
			l->column++;
	}
}

static void emit(struct lexer *l, enum fh_tpl_token_kind kind, size_t from, size_t to)
{
	count_to(l, from);
	FH_PUSH(l->out->items, l->out->n, l->out->cap) = (struct fh_tpl_token){
		.kind = kind, .text = { l->source.p + from, to - from }, .line = l->line, .column = l->column
	};
}

static FH_PRINTF(3, 4) int fail(struct lexer *l, size_t at, const char *format, ...)
{
	char message[200];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	count_to(l, at);
	return fh_error_at(l->err, l->name, l->line, l->column, "%s", message);
}

/* Emits the text from `from` to a tag at `to`, trimmed as whitespace control asks. */
static void emit_data(struct lexer *l, size_t from, size_t to)
{
	bool trim_end = to < l->source.n && char_at(l, to + 2) == '-';
	if (l->trim_next)
		while (from < to && is_blank(l->source.p[from]))
			from++;
	if (trim_end)
		while (to > from && is_blank(l->source.p[to - 1]))
			to--;
	l->trim_next = false;
	if (to > from)
		emit(l, FH_TPL_TOKEN_DATA, from, to);
}

static bool is_open(const struct lexer *l, size_t at)
{
	char next = char_at(l, at + 1);
	return l->source.p[at] == '{' && (next == '{' || next == '%' || next == '#');
}

static size_t skip_blanks(const struct lexer *l, size_t at)
{
	while (at < l->source.n && is_blank(l->source.p[at]))
		at++;
	return at;
}

/* If `{% word %}` is at `at`, returns the offset behind it, else 0; *ret_trim_end: it ends with -%}. */
static size_t bare_tag(const struct lexer *l, size_t at, const char *word, bool *ret_trim_end)
{
	if (!looking_at(l, at, "{%"))
		return 0;
	at += 2;
	at += char_at(l, at) == '-';
	at = skip_blanks(l, at);
	if (!looking_at(l, at, word))
		return 0;
	at = skip_blanks(l, at + strlen(word));
	bool trim = char_at(l, at) == '-';
	at += trim;
	if (!looking_at(l, at, "%}"))
		return 0;
	*ret_trim_end = trim;
	return at + 2;
}

/* Reads a raw block at l->at. Returns 1; 0 when there is none; negative on failure. Raw blocks nest. */
static int lex_raw(struct lexer *l)
{
	static const char *const words[][2] = { { "raw", "endraw" }, { "verbatim", "endverbatim" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++) {
		bool trim_start, trim_end;
		size_t open = l->at, from = bare_tag(l, l->at, words[i][0], &trim_start), end;
		if (!from)
			continue;
		unsigned level = 1;
		for (size_t at = from; at < l->source.n; at++) {
			if ((end = bare_tag(l, at, words[i][0], &trim_end)))
				level++;
			else if ((end = bare_tag(l, at, words[i][1], &trim_end)) && --level == 0) {
				l->trim_next = trim_start;
				emit_data(l, from, at);
				l->trim_next = trim_end;
				l->at = end;
				return 1;
			}
		}
		return fail(l, open, "this {%% %s %%} has no {%% %s %%}", words[i][0], words[i][1]);
	}
	return 0;
}

static int lex_comment(struct lexer *l)
{
	size_t end = l->at + 2;
	while (end < l->source.n && !looking_at(l, end, "#}"))
		end++;
	if (end >= l->source.n)
		return fail(l, l->at, "this comment is not closed: #} is missing");
	l->trim_next = end > l->at + 2 && l->source.p[end - 1] == '-';
	l->at = end + 2;
	return 0;
}

static int lex_string(struct lexer *l)
{
	size_t from = l->at;
	char quote = l->source.p[from];
	size_t at = from + 1;
	while (at < l->source.n && l->source.p[at] != quote)
		at += l->source.p[at] == '\\' ? 2 : 1;
	if (at >= l->source.n)
		return fail(l, from, "this string is not closed");
	emit(l, FH_TPL_TOKEN_STRING, from + 1, at);
	l->at = at + 1;
	return 0;
}

static bool is_number(struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* Reads a number or a name. As in Nunjucks it extends to the next delimiter, so that names may contain $ or é. */
static void lex_word(struct lexer *l)
{
	size_t from = l->at, to = from;
	while (to < l->source.n && !(l->source.p[to] && strchr(delimiters, l->source.p[to])))
		to++;
	bool number = is_number((struct fh_str){ l->source.p + from, to - from });
	if (number && char_at(l, to) == '.' && char_at(l, to + 1) >= '0' && char_at(l, to + 1) <= '9')
		for (to++; char_at(l, to) >= '0' && char_at(l, to) <= '9';)
			to++;
	emit(l, number ? FH_TPL_TOKEN_NUMBER : FH_TPL_TOKEN_NAME, from, to);
	l->at = to;
}

/* Reads r/pattern/flags at l->at; false when there is none. */
static bool lex_regex(struct lexer *l)
{
	if (!looking_at(l, l->at, "r/"))
		return false;
	size_t from = l->at + 2, to = from;
	while (to < l->source.n && l->source.p[to] != '/')
		to += l->source.p[to] == '\\' ? 2 : 1;
	if (to >= l->source.n)
		return false;
	for (to++; char_at(l, to) && strchr("gimy", char_at(l, to));)
		to++;
	emit(l, FH_TPL_TOKEN_REGEX, from, to);
	l->at = to;
	return true;
}

static bool lex_operator(struct lexer *l, unsigned *braces)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(operators); i++) {
		if (!looking_at(l, l->at, operators[i]))
			continue;
		size_t n = strlen(operators[i]);
		emit(l, FH_TPL_TOKEN_OPERATOR, l->at, l->at + n);
		*braces += *operators[i] == '{';
		*braces -= *operators[i] == '}' && *braces > 0;
		l->at += n;
		return true;
	}
	return false;
}

/* Reads the inside of {{ }} or {% %}. A }} counts as the tag's end only when the expression's own braces are closed. */
static int lex_code(struct lexer *l, enum fh_tpl_token_kind open, enum fh_tpl_token_kind close, const char *end)
{
	size_t start = l->at;
	unsigned braces = 0;
	emit(l, open, start, start + 2);
	const struct fh_tpl_token opening = l->out->items[l->out->n - 1];
	l->at += 2;
	l->at += char_at(l, l->at) == '-';
	for (;;) {
		l->at = skip_blanks(l, l->at);
		if (l->at >= l->source.n)
			return fh_error_at(l->err, l->name, opening.line, opening.column, "this %.2s is not closed: %s is missing",
			                   opening.text.p, end);
		bool trim = char_at(l, l->at) == '-' && looking_at(l, l->at + 1, end);
		if (trim || (looking_at(l, l->at, end) && (braces == 0 || *end == '%'))) {
			emit(l, close, l->at, l->at + trim + 2);
			l->at += trim + 2u;
			l->trim_next = trim;
			return 0;
		}
		char c = l->source.p[l->at];
		if (c == '"' || c == '\'') {
			int r = lex_string(l);
			if (r < 0)
				return r;
		} else if (c == '\0') {
			return fail(l, l->at, "a NUL in an expression");
		} else if (!lex_regex(l) && !lex_operator(l, &braces)) {
			lex_word(l);
		}
	}
}

static int lex_tag(struct lexer *l)
{
	if (looking_at(l, l->at, "{#"))
		return lex_comment(l);
	if (looking_at(l, l->at, "{{"))
		return lex_code(l, FH_TPL_TOKEN_OUTPUT, FH_TPL_TOKEN_OUTPUT_END, "}}");
	int raw = lex_raw(l);
	return raw ? FH_MIN(raw, 0) : lex_code(l, FH_TPL_TOKEN_TAG, FH_TPL_TOKEN_TAG_END, "%}");
}

int fh_text_template_lex(struct fh_str source, const char *name, struct fh_tpl_tokens *ret, struct fh_error *err)
{
	struct lexer l = { .source = source, .line = 1, .column = 1, .name = name, .out = ret, .err = err };
	while (l.at < source.n) {
		size_t tag = l.at;
		while (tag < source.n && !is_open(&l, tag))
			tag++;
		emit_data(&l, l.at, tag);
		l.at = tag;
		int r = tag < source.n ? lex_tag(&l) : 0;
		if (r < 0)
			return r;
	}
	emit(&l, FH_TPL_TOKEN_END, source.n, source.n);
	return 0;
}
