/* SPDX-License-Identifier: MIT */
#include "code/extract_fence.h"

#include "code/extract.h"
#include "code/literal.h"
#include "code/outline.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

bool fh_fence_of(struct fh_str line, struct fh_fence *ret)
{
	struct fh_fence f = { 0 };
	/* Fences in quotations (>) and list items count too. */
	while (f.indent < line.n && (is_space(line.p[f.indent]) || line.p[f.indent] == '>'))
		f.indent++;
	if (f.indent == line.n)
		return false;
	f.mark = line.p[f.indent];
	if (f.mark != '`' && f.mark != '~')
		return false;
	size_t i = f.indent;
	while (i < line.n && line.p[i] == f.mark)
		i++;
	f.length = i - f.indent;
	if (f.length < FH_EXTRACT_FENCE_MIN)
		return false;
	/* ```code``` on a single line is inline code, not a fence. */
	if (f.mark == '`' && memchr(line.p + i, '`', line.n - i))
		return false;
	while (i < line.n && (is_space(line.p[i]) || line.p[i] == '{' || line.p[i] == '.'))
		i++;
	size_t start = i;
	while (i < line.n && !is_space(line.p[i]) && !strchr(",}:=", line.p[i]))
		i++;
	f.tag = (struct fh_str){ line.p + start, i - start };
	f.closes = !f.tag.n;
	*ret = f;
	return true;
}

/* Where a docstring that is open at the beginning of `text` ends. NULL unless all fences before its end come in pairs,
 * of which each opens and closes an example. */
static const char *end_of_docstring(struct fh_str text, char mark)
{
	const char quotes[3] = { mark, mark, mark };
	const char *end = text.n ? memmem(text.p, text.n, quotes, sizeof(quotes)) : NULL;
	struct fh_str rest = text, line;
	size_t fences = 0;
	while (end && fh_next_line(&rest, &line) && line.p < end) {
		struct fh_fence f;
		if (fh_fence_of(line, &f) && fences++ % 2 == 1 && !f.closes)
			return NULL;
	}
	return fences % 2 == 0 ? end : NULL;
}

void fh_docstring_take(struct fh_docstring *d, struct fh_str line, struct fh_str rest)
{
	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];
		bool three = line.n - i >= 3 && (c == '"' || c == '\'') && line.p[i + 1] == c && line.p[i + 2] == c;
		if (!d->mark && c == '#')
			return;
		if (!d->mark && !three && (c == '"' || c == '\'')) {
			i = FH_MAX(fh_literal_end(line, i, FH_SYNTAX_PYTHON), i + 1) - 1;
		} else if (d->mark && c == '\\') {
			i++;
		} else if (three && (!d->mark || d->mark == c)) {
			*d = (struct fh_docstring){ .mark = d->mark ? '\0' : c };
			i += 2;
			if (d->mark)
				d->end = end_of_docstring(rest, c);
		}
	}
}

static bool begins_block(struct fh_str text)
{
	struct fh_str line;
	struct fh_fence f;
	if (!fh_next_line(&text, &line) || !fh_fence_of(line, &f))
		return false;
	/* ~~~x; is an expression in several languages */
	return f.mark == '`' || f.closes || fh_extract_language_of_tag(f.tag);
}

/* The end of the comment or literal that begins at s[i]. A back quote of a language that has none of them is prose's,
 * whose other one may be missing. */
static size_t skip(struct fh_str s, size_t i, const char *language)
{
	static const char quotes[] = "\"\"\"";
	const struct fh_syntax_row *row = fh_syntax_row(language);
	if (row->has_text_blocks && fh_str_begins(fh_str_from(s, i), quotes))
		return fh_literal_end(s, i, FH_SYNTAX_PYTHON);
	return s.p[i] == '`' && !row->has_back_quotes ? i : fh_literal_end(s, i, row->literals);
}

bool fh_has_free_fence(struct fh_str text, const char *language)
{
	for (size_t i = 0; i < text.n;) {
		if ((i == 0 || text.p[i - 1] == '\n') && begins_block(fh_str_from(text, i)))
			return true;
		i = FH_MAX(skip(text, i, language), i + 1);
	}
	return false;
}
