/* SPDX-License-Identifier: MIT */
#include "code/declaration.h"

#include "code/outline.h"

/* ----------------------------------------------------------------------------------------------------------- python */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

static bool skip_word(struct fh_str *s, const char *word)
{
	size_t n = strlen(word);
	if (s->n <= n || memcmp(s->p, word, n) != 0 || (s->p[n] != ' ' && s->p[n] != '\t'))
		return false;
	while (n < s->n && (s->p[n] == ' ' || s->p[n] == '\t'))
		n++;
	*s = (struct fh_str){ s->p + n, s->n - n };
	return true;
}

static struct fh_str leading_name(struct fh_str s)
{
	size_t n = 0;
	while (n < s.n && is_name_byte(s.p[n]))
		n++;
	return (struct fh_str){ s.p, n };
}

/* Removes the next line from *rest and returns it in *ret_line. */
static bool next_line(struct fh_str *rest, struct fh_str *ret_line)
{
	if (rest->n == 0)
		return false;
	const char *end = memchr(rest->p, '\n', rest->n);
	size_t n = end ? (size_t)(end - rest->p) : rest->n;
	*ret_line = (struct fh_str){ rest->p, n };
	n += end != NULL;
	*rest = (struct fh_str){ rest->p + n, rest->n - n };
	return true;
}

static struct fh_str def_name(struct fh_str line)
{
	skip_word(&line, "async");
	return skip_word(&line, "def") ? leading_name(line) : (struct fh_str){ line.p, 0 };
}

bool fh_declares_python(struct fh_str source, struct fh_str name)
{
	struct fh_str line;
	while (next_line(&source, &line)) {
		struct fh_str found = def_name(line);
		if (found.n == 0) {
			skip_word(&line, "class");
			found = leading_name(line);
		}
		if (found.n == name.n && name.n > 0 && memcmp(found.p, name.p, name.n) == 0)
			return true;
	}
	return false;
}

struct fh_str fh_last_python_def(struct fh_str source)
{
	struct fh_str line, last = { source.p, 0 };
	while (next_line(&source, &line)) {
		struct fh_str found = def_name(line);
		if (found.n > 0)
			last = found;
	}
	return last;
}

bool fh_mentions(struct fh_str source, struct fh_str name, const char *followed_by)
{
	if (name.n == 0 || source.n == 0)
		return false;
	const char *at = source.p, *end = source.p + source.n;
	while ((at = memmem(at, end - at, name.p, name.n))) {
		const char *after = at + name.n;
		bool begins = at == source.p || !is_name_byte(at[-1]), ends = after == end || !is_name_byte(*after);
		if (begins && ends && (!followed_by || (after < end && *after && strchr(followed_by, *after))))
			return true;
		at = after;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------------- JavaScript */

struct fh_str fh_last_javascript_name(struct fh_str source, size_t *ret_at)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_outline_make(&o, source, FH_SYNTAX_JAVASCRIPT);
	for (size_t i = o.n; i-- > 0;)
		if (o.items[i].count > 0) {
			*ret_at = o.items[i].text.p - source.p;
			return o.names[o.items[i].first];
		}
	*ret_at = source.n;
	return (struct fh_str){ source.p, 0 };
}

/* -------------------------------------------------------------------------------------------------------------- C++ */

/* The end of the raw string that begins at s[i], or i when none begins there. */
static size_t skip_raw_string(struct fh_str s, size_t i)
{
	if (s.p[i] != 'R' || i + 1 >= s.n || s.p[i + 1] != '"' || (i > 0 && is_name_byte(s.p[i - 1])))
		return i;
	size_t open = i + 2;
	while (open < s.n && s.p[open] != '(' && open - i < 20)
		open++;
	size_t mark = open - (i + 2);
	for (size_t j = open + 1; j + mark + 1 < s.n; j++)
		if (s.p[j] == ')' && memcmp(s.p + j + 1, s.p + i + 2, mark) == 0 && s.p[j + 1 + mark] == '"')
			return j + mark + 2;
	return s.n;
}

static size_t skip_quoted(struct fh_str s, size_t i)
{
	char quote = s.p[i];
	if (quote != '"' && quote != '\'')
		return i;
	/* a digit separator as in 1'000'000, not a character literal */
	if (quote == '\'' && i > 0 && is_name_byte(s.p[i - 1]) && i + 1 < s.n && is_name_byte(s.p[i + 1]) &&
	    !(i + 2 < s.n && s.p[i + 2] == '\''))
		return i;
	/* a lifetime of Rust, such as 'a */
	size_t word = i + 1;
	while (quote == '\'' && word < s.n && is_name_byte(s.p[word]))
		word++;
	if (word > i + 1 && (word == s.n || s.p[word] != '\''))
		return i;
	for (size_t j = i + 1; j < s.n; j++) {
		if (s.p[j] == '\\')
			j++;
		else if (s.p[j] == quote || s.p[j] == '\n')
			return j + 1;
	}
	return s.n;
}

static size_t skip_comment(struct fh_str s, size_t i)
{
	if (s.p[i] != '/' || i + 1 >= s.n)
		return i;
	if (s.p[i + 1] == '/') {
		const char *end = memchr(s.p + i, '\n', s.n - i);
		return end ? (size_t)(end - s.p) : s.n;
	}
	if (s.p[i + 1] != '*')
		return i;
	const char *end = memmem(s.p + i + 2, s.n - i - 2, "*/", 2);
	return end ? (size_t)(end - s.p) + 2 : s.n;
}

size_t fh_cpp_skip(struct fh_str s, size_t i)
{
	size_t next = skip_raw_string(s, i);
	if (next == i)
		next = skip_quoted(s, i);
	return next == i ? skip_comment(s, i) : next;
}

struct fh_str fh_cpp_declaration(struct fh_str s)
{
	size_t cut = s.n, i = 0;
	long depth = 0;
	while (i < s.n) {
		size_t next = fh_cpp_skip(s, i);
		if (next > i) {
			i = next;
			continue;
		}
		if (s.p[i] == '{' && depth++ == 0)
			cut = i + 1;
		else if (s.p[i] == '}')
			depth--;
		i++;
	}
	return (struct fh_str){ s.p, depth > 1 ? cut : s.n };
}
