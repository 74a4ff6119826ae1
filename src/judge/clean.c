/* SPDX-License-Identifier: MIT */
#include "judge/clean.h"

#include "judge/declaration.h"
#include "judge/outline.h"

static const char mark[] = "\xef\xbb\xbf";

/* NO-BREAK, FIGURE, NARROW NO-BREAK and IDEOGRAPHIC SPACE. */
static const char *const spaces[] = { "\xc2\xa0", "\xe2\x80\x87", "\xe2\x80\xaf", "\xe3\x80\x80" };

static size_t space_at(struct fh_str s)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(spaces); i++)
		if (fh_str_begins(s, spaces[i]))
			return strlen(spaces[i]);
	return 0;
}

static bool has_space(struct fh_str s)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(spaces); i++)
		if (s.n && memmem(s.p, s.n, spaces[i], strlen(spaces[i])))
			return true;
	return false;
}

/* The end of the literal that begins at s[i]; a plain one ends with its line. */
static size_t skip_quoted(struct fh_str s, size_t i, bool lines)
{
	char quote = s.p[i];
	for (i++; i < s.n; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (s.p[i] == quote)
			return i + 1;
		else if (s.p[i] == '\n' && !lines)
			return i;
	}
	return s.n;
}

/* The end of the comment or literal that begins at s[i], or i. */
static size_t skip_python(struct fh_str s, size_t i)
{
	char c = s.p[i];
	if (c == '#') {
		const char *end = memchr(s.p + i, '\n', s.n - i);
		return end ? (size_t)(end - s.p) : s.n;
	}
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

static size_t skip_bash(struct fh_str s, size_t i)
{
	return s.p[i] == '"' || s.p[i] == '\'' ? skip_quoted(s, i, true) : i;
}

static size_t skip_braced(struct fh_str s, size_t i)
{
	return s.p[i] == '`' ? skip_quoted(s, i, true) : fh_cpp_skip(s, i);
}

static size_t (*const skip[FH_SYNTAX_COUNT_])(struct fh_str s, size_t i) = {
	[FH_SYNTAX_PYTHON] = skip_python,
	[FH_SYNTAX_JAVASCRIPT] = skip_braced,
	[FH_SYNTAX_C] = skip_braced,
	[FH_SYNTAX_BASH] = skip_bash,
};

/* Those that are not known to the outline (fh_syntax_of) have braces. */
static enum fh_syntax syntax_of(const char *language)
{
	static const char *const braced[] = { "java", "go", "rust", "php" };
	for (size_t i = 0; language && i < FH_ARRAY_SIZE(braced); i++)
		if (fh_streq(language, braced[i]))
			return FH_SYNTAX_C;
	return fh_syntax_of(language);
}

void fh_clean_program(struct fh_buf *out, struct fh_str text, const char *language)
{
	if (fh_str_begins(text, mark))
		text = fh_str_from(text, strlen(mark));
	if (!has_space(text)) {
		fh_buf_add_str(out, text);
		return;
	}
	size_t (*skip_literal)(struct fh_str s, size_t i) = skip[syntax_of(language)];
	for (size_t i = 0; i < text.n;) {
		size_t n = space_at(fh_str_from(text, i)), end = n ? i : FH_MIN(skip_literal(text, i), text.n);
		if (n)
			fh_buf_addc(out, ' ');
		else if (end == i)
			fh_buf_addc(out, text.p[i]);
		else
			fh_buf_add_str(out, (struct fh_str){ text.p + i, end - i });
		i = n ? i + n : FH_MAX(end, i + 1);
	}
}
