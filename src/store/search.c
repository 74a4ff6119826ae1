/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "store/search.h"

#include <pcre2.h>
#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"

#define MATCH_LIMIT 100000

/* --------------------------------------------------------------------------------------------- the texts of a row */

/* Rows are valid JSON, written by us; parsing them into a tree would take ten times as long as unescaping their
 * texts. */

static size_t unescape_unit(const char *p, uint32_t *ret)
{
	char hex[5] = { 0 };
	memcpy(hex, p, 4);
	*ret = (uint32_t)strtoul(hex, NULL, 16);
	return 4;
}

static void unescape(struct fh_str s, struct fh_buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	if (out->n)
		fh_buf_truncate(out, 0);
	for (size_t i = 0; i < s.n;) {
		const char *next = memchr(s.p + i, '\\', s.n - i);
		size_t plain = next ? (size_t)(next - s.p) - i : s.n - i;
		fh_buf_add(out, s.p + i, plain);
		i += plain + 2;
		if (!next || i > s.n)
			return;
		char c = s.p[i - 1];
		const char *known = memchr(from, c, sizeof(from) - 1);
		if (c != 'u') {
			fh_buf_addc(out, known ? to[known - from] : c);
			continue;
		}
		uint32_t unit = FH_UTF8_REPLACEMENT, low = 0;
		char bytes[4];
		if (i + 4 <= s.n)
			i += unescape_unit(s.p + i, &unit);
		if (unit >= 0xd800 && unit < 0xdc00 && i + 6 <= s.n && s.p[i] == '\\' && s.p[i + 1] == 'u') {
			(void)unescape_unit(s.p + i + 2, &low);
			if (low >= 0xdc00 && low < 0xe000) {
				i += 6;
				unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
			}
		}
		if (unit >= 0xd800 && unit < 0xe000)
			unit = FH_UTF8_REPLACEMENT;
		fh_buf_add(out, bytes, fh_utf8_encode(unit, bytes));
	}
}

/* The end of the string that begins at `from` (behind its quote); NULL: it is not closed. */
static const char *end_of_string(const char *from, const char *end)
{
	for (const char *q = from; (q = memchr(q, '"', (size_t)(end - q))); q++) {
		const char *p = q;
		while (p > from && p[-1] == '\\')
			p--;
		if ((q - p) % 2 == 0)
			return q;
	}
	return NULL;
}

/* Calls `test` for each text of the row until one call returns true. Strings before a colon are names of members and
 * are skipped. */
static bool any_text(struct fh_str row, bool (*test)(void *, const char *, size_t), void *context)
{
	fh_auto_buf struct fh_buf room = FH_BUF_INIT(0);
	const char *end = row.p + row.n, *at = row.p, *q;
	while ((at = memchr(at, '"', (size_t)(end - at)))) {
		const char *text = at + 1;
		if (!(q = end_of_string(text, end)))
			return false;
		at = q + 1;
		while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
			at++;
		if (at < end && *at == ':')
			continue;
		struct fh_str s = { text, (size_t)(q - text) };
		if (memchr(s.p, '\\', s.n)) {
			unescape(s, &room);
			s = fh_buf_str(&room);
		}
		if (test(context, s.p, s.n))
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- words */

/* The searched words, and the character of them that is rarest in texts: comparisons begin at that one. */
struct words {
	struct fh_str s;
	size_t rare;
};

static struct words words_of(struct fh_str s)
{
	static const char common[] = " etaoinsrhldcumfpgwybvkxjqz";
	struct words w = { s, 0 };
	size_t best = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] | 32) : s.p[i];
		const char *found = c ? strchr(common, c) : NULL;
		size_t rank = found ? (size_t)(found - common) : c >= '0' && c <= '9' ? 12 : sizeof(common);
		if (rank > best) {
			best = rank;
			w.rare = i;
		}
	}
	return w;
}

static const char *next_of(const char *p, const char *end, char c)
{
	return p && p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
}

static bool has_words(void *context, const char *text, size_t n)
{
	const struct words *w = context;
	if (w->s.n == 0 || w->s.n > n)
		return w->s.n == 0;
	char c = w->s.p[w->rare];
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
	const char *end = text + n - (w->s.n - 1 - w->rare), *from = text + w->rare;
	const char *a = next_of(from, end, c), *b = letter ? next_of(from, end, (char)(c ^ 32)) : NULL;
	while (a || b) {
		const char **least = !b || (a && a < b) ? &a : &b;
		if (strncasecmp(*least - w->rare, w->s.p, w->s.n) == 0)
			return true;
		*least = next_of(*least + 1, end, **least);
	}
	return false;
}

/* Printable ASCII other than quote and backslash is not escaped in JSON, so words of it can only be in a text of the
 * row if they are in the row's JSON. */
static bool stands_for_itself(struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '"' || s.p[i] == '\\' || s.p[i] == '/')
			return false;
	return true;
}

bool fh_search_has(struct fh_str row, struct fh_str s)
{
	struct words words = words_of(s);
	if (stands_for_itself(s) && !has_words(&words, row.p, row.n))
		return false;
	return any_text(row, has_words, &words);
}

/* -------------------------------------------------------------------------------------------- regular expressions */

struct fh_search_cache {
	char *pattern;
	pcre2_code *code; /* compiled regular expression; NULL: it does not compile */
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

void fh_search_cache_free(struct fh_search_cache *c)
{
	if (!c)
		return;
	pcre2_code_free(c->code);
	pcre2_match_data_free(c->match);
	pcre2_match_context_free(c->limits);
	free(c->pattern);
	free(c);
}

static pcre2_code *compile(const char *pattern, size_t n, int *ret_code, size_t *ret_at)
{
	return pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, ret_code, ret_at, NULL);
}

static struct fh_search_cache *make_cache(struct fh_str pattern)
{
	struct fh_search_cache *c = FH_NEW(struct fh_search_cache);
	int code;
	size_t at;
	c->pattern = fh_xstrndup(pattern.p, pattern.n);
	c->code = compile(pattern.p, pattern.n, &code, &at);
	if (c->code)
		(void)pcre2_jit_compile(c->code, PCRE2_JIT_COMPLETE); /* without JIT the interpreter is used */
	c->match = pcre2_match_data_create(1, NULL);
	c->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(c->limits, MATCH_LIMIT);
	return c;
}

static bool matches(void *context, const char *text, size_t n)
{
	const struct fh_search_cache *c = context;
	return pcre2_match(c->code, (PCRE2_SPTR)text, n, 0, 0, c->match, c->limits) >= 0;
}

bool fh_search_matches(struct fh_search_cache **cache, struct fh_str row, struct fh_str pattern)
{
	if (*cache && !fh_str_eq(pattern, (*cache)->pattern)) {
		fh_search_cache_free(*cache);
		*cache = NULL;
	}
	if (!*cache)
		*cache = make_cache(pattern);
	if (!(*cache)->code)
		return false;
	return any_text(row, matches, *cache);
}

int fh_search_check(const char *pattern, struct fh_error *err)
{
	int code;
	size_t at;
	char why[160];
	pcre2_code *c = compile(pattern, strlen(pattern), &code, &at);
	if (c) {
		pcre2_code_free(c);
		return 0;
	}
	pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
	return fh_error_set(err, FH_E_ARGUMENT, "the regular expression %s is wrong at character %zu: %s", pattern, at + 1,
	                    why);
}
