/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_braces.h"

#include <ctype.h>

#include "eval/rendering/template_host.h"

/* The longest tag that is looked for: a bound on the work for a text of opening braces alone. */
#define TAG_MAX ((size_t)4096)

/* The size of what begins text and ends with the two bytes of `end`; 0: no such end. */
static size_t size_until(struct fh_str text, const char *end)
{
	const char *found = memmem(text.p + 2, FH_MIN(text.n, TAG_MAX) - 2, end, 2);
	return found ? (size_t)(found + 2 - text.p) : 0;
}

/* Whether an output's content is a number, which nobody writes as a template. */
static bool is_number(struct fh_str content)
{
	for (size_t i = 0; i < content.n; i++)
		if (!isdigit((unsigned char)content.p[i]) && !strchr(" .-", content.p[i]))
			return false;
	return true;
}

static size_t output_size(struct fh_str text)
{
	size_t n = size_until(text, "}}");
	if (n == 0 || is_number((struct fh_str){ text.p + 2, n - 4 }))
		return 0;
	fh_auto_template struct fh_text_template *t = fh_text_template_compile((struct fh_str){ text.p, n }, NULL, NULL);
	return t ? n : 0;
}

/* The first word of a {% … %} tag. */
static struct fh_str word_of(struct fh_str tag)
{
	size_t at = 2, n = 0;
	while (at < tag.n && (tag.p[at] == '-' || isspace((unsigned char)tag.p[at])))
		at++;
	while (at + n < tag.n && isalpha((unsigned char)tag.p[at + n]))
		n++;
	return (struct fh_str){ tag.p + at, n };
}

static bool is_block_tag(struct fh_str word)
{
	static const char *const words[] = { "if",     "elif",   "elseif",  "else",    "for",     "set",   "macro",
		                                 "call",   "switch", "case",    "default", "filter",  "block", "include",
		                                 "import", "from",   "extends", "raw",     "verbatim" };
	static const char end[] = "end";
	if (fh_str_begins(word, end))
		word = fh_str_from(word, strlen(end));
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (fh_str_eq(word, words[i]))
			return true;
	return false;
}

/* The size of the tag that begins text, which begins with a brace; 0: there is none. */
static size_t tag_size(struct fh_str text, bool behind_dollar)
{
	if (text.n < 4)
		return 0;
	if (text.p[1] == '{')
		return output_size(text);
	if (text.p[1] == '#')
		return behind_dollar ? 0 : size_until(text, "#}");
	size_t n = text.p[1] == '%' ? size_until(text, "%}") : 0;
	return n > 0 && is_block_tag(word_of((struct fh_str){ text.p, n })) ? n : 0;
}

void fh_code_braces(struct fh_str text, struct fh_buf *out)
{
	for (size_t i = 0; i < text.n;) {
		struct fh_str rest = fh_str_from(text, i);
		bool opens = rest.n >= 2 && rest.p[0] == '{' && strchr("{%#", rest.p[1]);
		size_t n = opens ? tag_size(rest, i > 0 && text.p[i - 1] == '$') : 1;
		if (opens && n == 0) {
			fh_buf_addf(out, "{{ \"%.2s\" }}", rest.p);
			i += 2;
			continue;
		}
		if (rest.p[0] == '{' && n > 1 && rest.p[1] == '%') {
			struct fh_str word = word_of((struct fh_str){ rest.p, n });
			n = fh_str_eq(word, "raw") || fh_str_eq(word, "verbatim") ? rest.n : n;
		}
		fh_buf_add(out, rest.p, n);
		i += n;
	}
}
