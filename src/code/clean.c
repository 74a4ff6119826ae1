/* SPDX-License-Identifier: MIT */
#include "code/clean.h"

#include "code/literal.h"

static const char mark[] = "\xef\xbb\xbf";

/* The characters that are replaced: NO-BREAK, FIGURE, NARROW NO-BREAK and IDEOGRAPHIC SPACE. */
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

void fh_clean_program(struct fh_buf *out, struct fh_str text, const char *language)
{
	if (fh_str_begins(text, mark))
		text = fh_str_from(text, strlen(mark));
	if (!has_space(text)) {
		fh_buf_add_str(out, text);
		return;
	}
	enum fh_syntax syntax = fh_literal_syntax(language);
	for (size_t i = 0; i < text.n;) {
		size_t n = space_at(fh_str_from(text, i)), end = n ? i : fh_literal_end(text, i, syntax);
		if (n)
			fh_buf_addc(out, ' ');
		else if (end == i)
			fh_buf_addc(out, text.p[i]);
		else
			fh_buf_add_str(out, (struct fh_str){ text.p + i, end - i });
		i = n ? i + n : FH_MAX(end, i + 1);
	}
}
