/* SPDX-License-Identifier: MIT */
#include "base/text/case.h"
#include "template/template_internal.h"

#include <ctype.h>
#include <math.h>

#define FILTER(name)                                                                                                   \
	static struct fh_tpl_value name(FH_UNUSED struct fh_tpl_render *r, FH_UNUSED struct fh_tpl_value v,                \
	                                FH_UNUSED const struct fh_tpl_value *args)
#define TEXT_BUF FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX)

/* The value as a string; undefined, null and false as the empty one. */
static struct fh_str text_of(struct fh_tpl_render *r, struct fh_tpl_value v)
{
	bool nothing = v.kind <= FH_TPL_NULL || (v.kind == FH_TPL_BOOL && !v.truth);
	return nothing ? fh_str("") : fh_tpl_value_str(fh_tpl_value_to_string(r, v));
}

/* An argument as a count; the fallback when it is missing or 0. */
static size_t count_of(struct fh_tpl_value v, size_t fallback)
{
	double n = fh_tpl_value_truthy(v) ? fh_tpl_value_to_number(v) : 0;
	return n >= 1 ? (size_t)FH_MIN(n, 1e9) : fallback;
}

static struct fh_tpl_value result(struct fh_tpl_render *r, struct fh_tpl_value from, struct fh_buf *out)
{
	struct fh_tpl_value v = fh_tpl_value_take(r, out);
	v.safe = from.safe;
	return v;
}

static void add_spaces(struct fh_buf *out, size_t n)
{
	static const char spaces[] = "                                ";
	for (; n > 0 && !out->overflowed; n -= FH_MIN(n, sizeof(spaces) - 1))
		fh_buf_add(out, spaces, FH_MIN(n, sizeof(spaces) - 1));
}

FILTER(filter_upper)
{
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	fh_case_upper(&out, text_of(r, v));
	return fh_tpl_value_take(r, &out);
}

FILTER(filter_lower)
{
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	fh_case_lower(&out, text_of(r, v));
	return fh_tpl_value_take(r, &out);
}

static void add_capitalized(struct fh_buf *out, struct fh_str s)
{
	size_t first = s.n > 0;
	while (first < s.n && ((unsigned char)s.p[first] & 0xC0) == 0x80)
		first++;
	fh_case_upper(out, (struct fh_str){ s.p, first });
	fh_case_lower(out, (struct fh_str){ s.p + first, s.n - first });
}

FILTER(filter_capitalize)
{
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	add_capitalized(&out, text_of(r, v));
	return result(r, v, &out);
}

FILTER(filter_title)
{
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	struct fh_str s = text_of(r, v);
	while (true) {
		const char *space = s.n ? memchr(s.p, ' ', s.n) : NULL;
		size_t n = space ? (size_t)(space - s.p) : s.n;
		add_capitalized(&out, (struct fh_str){ s.p, n });
		if (!space)
			return result(r, v, &out);
		fh_buf_addc(&out, ' ');
		s.p += n + 1, s.n -= n + 1;
	}
}

FILTER(filter_trim)
{
	struct fh_tpl_value trimmed = fh_tpl_value_string(r, fh_tpl_text_trim(text_of(r, v), true, true));
	trimmed.safe = v.safe;
	return trimmed;
}

FILTER(filter_center)
{
	struct fh_str s = text_of(r, v);
	size_t width = count_of(args[0], 80), n = fh_tpl_text_units(s);
	if (n >= width)
		return v;
	/* As in Nunjucks, an odd number of spaces puts the extra one behind the text. */
	double spaces = (double)(width - n), before = spaces / 2 - fmod(spaces, 2);
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	add_spaces(&out, before > 0 ? (size_t)ceil(before) : 0);
	fh_buf_add(&out, s.p, s.n);
	add_spaces(&out, (size_t)ceil(spaces / 2));
	return result(r, v, &out);
}

FILTER(filter_indent)
{
	struct fh_str s = text_of(r, v);
	size_t width = count_of(args[0], 4);
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	if (s.n > 0 && fh_tpl_value_truthy(args[1]))
		add_spaces(&out, width);
	for (size_t i = 0; i < s.n; i++) {
		fh_buf_addc(&out, s.p[i]);
		if (s.p[i] == '\n')
			add_spaces(&out, width);
	}
	return result(r, v, &out);
}

FILTER(filter_replace)
{
	if (args[0].kind == FH_TPL_REGEX)
		return fh_tpl_regex_replace(r, args[0], text_of(r, v), fh_tpl_value_str(fh_tpl_value_to_string(r, args[1])));
	if (args[0].kind != FH_TPL_STRING && args[0].kind != FH_TPL_NUMBER)
		return v;
	if (v.kind != FH_TPL_STRING && v.kind != FH_TPL_NUMBER)
		return v;
	struct fh_str s = text_of(r, v), old = fh_tpl_value_str(fh_tpl_value_to_string(r, args[0]));
	struct fh_str new = fh_tpl_value_str(fh_tpl_value_to_string(r, args[1]));
	size_t most = args[2].kind == FH_TPL_UNDEFINED ? SIZE_MAX
	                                               : (size_t)FH_MAX(0.0, FH_MIN(fh_tpl_value_to_number(args[2]), 1e15));
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	size_t at = 0;
	/* An empty `old` matches before each character and at the end. */
	for (size_t i = 0; old.n == 0 && i < s.n; i++) {
		if (((unsigned char)s.p[i] & 0xC0) != 0x80)
			fh_buf_add(&out, new.p, new.n);
		fh_buf_addc(&out, s.p[i]);
	}
	if (old.n == 0) {
		fh_buf_add(&out, new.p, new.n);
		return result(r, v, &out);
	}
	for (ssize_t found; most > 0 && (found = fh_tpl_text_find(s, old, at)) >= 0; most--) {
		fh_buf_add(&out, s.p + at, (size_t)found - at);
		fh_buf_add(&out, new.p, new.n);
		at = (size_t)found + old.n;
	}
	fh_buf_add(&out, s.p + at, s.n - at);
	return result(r, v, &out);
}

/* Index, in UTF-16 units, of the last space at or before `length`; length when there is none. */
static size_t last_space(struct fh_str s, size_t length)
{
	size_t unit = 0, space = length;
	bool found = false;
	for (size_t i = 0; i < s.n && unit <= length; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == ' ')
			space = unit, found = true;
		if ((c & 0xC0) != 0x80)
			unit += c >= 0xF0 ? 2 : 1;
	}
	return found ? space : length;
}

FILTER(filter_truncate)
{
	struct fh_str s = text_of(r, v);
	size_t length = count_of(args[0], 255);
	if (fh_tpl_text_units(s) <= length)
		return v.kind <= FH_TPL_NULL ? fh_tpl_value_string(r, s) : v;
	struct fh_tpl_value head =
	    fh_tpl_text_slice(r, s, 0, fh_tpl_value_truthy(args[1]) ? length : last_space(s, length));
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	fh_tpl_value_write(&out, head);
	if (args[2].kind > FH_TPL_NULL)
		fh_tpl_value_write(&out, args[2]);
	else
		fh_buf_adds(&out, "...");
	return result(r, v, &out);
}

/* Counts runs of letters, digits and _; null when there is none. */
FILTER(filter_wordcount)
{
	struct fh_str s = text_of(r, v);
	double n = 0;
	bool inside = false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool word = c < 0x80 && (isalnum(c) || c == '_');
		n += word && !inside;
		inside = word;
	}
	return n > 0 ? fh_tpl_value_number(n) : (struct fh_tpl_value){ .kind = FH_TPL_NULL };
}

static void add_encoded(struct fh_buf *out, struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 0x80 && c && (isalnum(c) || strchr("-_.!~*'()", c)))
			fh_buf_addc(out, (char)c);
		else
			fh_buf_addf(out, "%%%02X", c);
	}
}

static void add_pair(struct fh_tpl_render *r, struct fh_buf *out, struct fh_tpl_value key, struct fh_tpl_value value)
{
	if (out->n)
		fh_buf_addc(out, '&');
	add_encoded(out, fh_tpl_value_str(fh_tpl_value_to_string(r, key)));
	fh_buf_addc(out, '=');
	add_encoded(out, fh_tpl_value_str(fh_tpl_value_to_string(r, value)));
}

FILTER(filter_urlencode)
{
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	if (v.kind == FH_TPL_OBJECT) {
		const char *key;
		json_t *member;
		json_object_foreach(v.json, key, member)
		    add_pair(r, &out, fh_tpl_value_string(r, fh_str(key)), fh_tpl_value_from_json(member));
	} else if (v.kind == FH_TPL_ARRAY) {
		for (size_t i = 0; i < json_array_size(v.json); i++) {
			struct fh_tpl_value pair = fh_tpl_value_item(r, v, i);
			add_pair(r, &out, fh_tpl_value_item(r, pair, 0), fh_tpl_value_item(r, pair, 1));
		}
	} else {
		add_encoded(&out, text_of(r, v));
	}
	return fh_tpl_value_take(r, &out);
}

FILTER(filter_nl2br)
{
	struct fh_str s = text_of(r, v);
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\r' && i + 1 < s.n && s.p[i + 1] == '\n')
			continue;
		if (s.p[i] == '\n')
			fh_buf_adds(&out, "<br />");
		fh_buf_addc(&out, s.p[i]);
	}
	return result(r, v, &out);
}

FILTER(filter_forceescape)
{
	static const char *const entities[128] = {
		['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;", ['<'] = "&lt;", ['>'] = "&gt;", ['\\'] = "&#92;"
	};
	struct fh_str s = v.kind <= FH_TPL_NULL ? fh_str("") : fh_tpl_value_str(fh_tpl_value_to_string(r, v));
	fh_auto_buf struct fh_buf out = TEXT_BUF;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c < 128 && entities[c])
			fh_buf_adds(&out, entities[c]);
		else
			fh_buf_addc(&out, (char)c);
	}
	struct fh_tpl_value escaped = fh_tpl_value_take(r, &out);
	escaped.safe = true;
	return escaped;
}

FILTER(filter_escape)
{
	return v.safe ? v : filter_forceescape(r, v, args);
}

FILTER(filter_safe)
{
	struct fh_tpl_value safe =
	    v.kind <= FH_TPL_NULL ? fh_tpl_value_string(r, fh_str("")) : fh_tpl_value_to_string(r, v);
	safe.safe = true;
	return safe;
}

FILTER(filter_string)
{
	return fh_tpl_value_to_string(r, v);
}

/* Index behind the HTML tag or comment that begins with the '<' at s.p[i]; i when it is not closed. */
static size_t tag_end(struct fh_str s, size_t i)
{
	if (s.n - i >= 4 && memcmp(s.p + i, "<!--", 4) == 0) {
		ssize_t end = fh_tpl_text_find(s, fh_str("-->"), i + 4);
		return end < 0 ? i : (size_t)end + 3;
	}
	size_t at = i + 1;
	at += at < s.n && s.p[at] == '/';
	if (at >= s.n || !isalpha((unsigned char)s.p[at]))
		return i;
	const char *end = memchr(s.p + at, '>', s.n - at);
	return end ? (size_t)(end - s.p) + 1 : i;
}

/* Appends s with white space squashed: each run becomes one space; with keep_lines only runs within lines, and at most
 * two line ends in a row stay. */
static void add_squashed(struct fh_buf *out, struct fh_str s, bool keep_lines)
{
	size_t lines = 0;
	bool blank = false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (keep_lines && (c == '\n' || (c == '\r' && i + 1 < s.n && s.p[i + 1] == '\n'))) {
			i += c == '\r';
			blank = false;
			if (++lines <= 2)
				fh_buf_addc(out, '\n');
		} else if (keep_lines ? c == ' ' : isspace((unsigned char)c) != 0) {
			blank = true;
		} else {
			if (blank && !(keep_lines && lines > 0))
				fh_buf_addc(out, ' ');
			fh_buf_addc(out, c);
			blank = false;
			lines = 0;
		}
	}
}

FILTER(filter_striptags)
{
	struct fh_str s = text_of(r, v);
	fh_auto_buf struct fh_buf bare = TEXT_BUF, out = TEXT_BUF;
	for (size_t i = 0; i < s.n;) {
		size_t end = s.p[i] == '<' ? tag_end(s, i) : i;
		if (end == i)
			fh_buf_addc(&bare, s.p[end++]);
		i = end;
	}
	add_squashed(&out, fh_tpl_text_trim(fh_buf_str(&bare), true, true), fh_tpl_value_truthy(args[0]));
	return result(r, v, &out);
}

const struct fh_tpl_filter fh_tpl_filters_text[] = {
	{ "capitalize", filter_capitalize, { NULL } },
	{ "center", filter_center, { "width" } },
	{ "e", filter_escape, { NULL } },
	{ "escape", filter_escape, { NULL } },
	{ "forceescape", filter_forceescape, { NULL } },
	{ "indent", filter_indent, { "width", "indentfirst" } },
	{ "lower", filter_lower, { NULL } },
	{ "nl2br", filter_nl2br, { NULL } },
	{ "replace", filter_replace, { "old", "new", "count" } },
	{ "safe", filter_safe, { NULL } },
	{ "string", filter_string, { NULL } },
	{ "striptags", filter_striptags, { "preserve_linebreaks" } },
	{ "title", filter_title, { NULL } },
	{ "trim", filter_trim, { NULL } },
	{ "truncate", filter_truncate, { "length", "killwords", "end" } },
	{ "upper", filter_upper, { NULL } },
	{ "urlencode", filter_urlencode, { NULL } },
	{ "urlize", fh_tpl_filter_urlize, { "length", "nofollow" } },
	{ "wordcount", filter_wordcount, { NULL } },
	{ NULL, NULL, { NULL } },
};
