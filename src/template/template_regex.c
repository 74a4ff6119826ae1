/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

/* Regular expressions, r/pattern/flags, which the host matches. */

/* Finds the next match; false: there is none, or the render failed. */
static bool search(struct fh_tpl_render *r, const struct fh_tpl_node *regex, struct fh_str s, size_t from,
                   struct fh_text_template_match *ret)
{
	struct fh_error err = FH_ERROR_INIT;
	if (from > s.n || !fh_tpl_render_step(r, r->at))
		return false;
	if (!r->host || !r->host->search) {
		fh_tpl_render_fail(r, "regular expressions are not available in this template");
		return false;
	}
	int code = r->host->search(r->host->context, regex->name, regex->flags, s, from, ret, &err);
	if (code < 0 && code != -FH_E_NOT_FOUND)
		fh_tpl_render_fail(r, "%.200s", err.message);
	return code == 0;
}

/* Where to search after a match: an empty one must not be found again. */
static size_t behind(struct fh_str s, const struct fh_text_template_match *m)
{
	size_t at = m->to[0];
	if (m->to[0] > m->from[0])
		return at;
	for (at++; at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80;)
		at++;
	return at;
}

static bool is_global(const struct fh_tpl_node *regex)
{
	return strchr(regex->flags, 'g') != NULL;
}

/* Appends a replacement: $1 is a group, $& the match, $$ a dollar sign. */
static void expand(struct fh_buf *out, struct fh_str with, struct fh_str s, const struct fh_text_template_match *m)
{
	for (size_t i = 0; i < with.n; i++) {
		char next = i + 1 < with.n ? with.p[i + 1] : '\0';
		size_t group = next == '&' ? 0 : next >= '1' && next <= '9' ? (size_t)(next - '0') : FH_TEXT_TEMPLATE_GROUPS;
		if (with.p[i] != '$' || (next != '$' && group >= m->n)) {
			fh_buf_addc(out, with.p[i]);
			continue;
		}
		i++;
		if (next == '$')
			fh_buf_addc(out, '$');
		else if (m->from[group] != SIZE_MAX)
			fh_buf_add(out, s.p + m->from[group], m->to[group] - m->from[group]);
	}
}

bool fh_tpl_regex_test(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s)
{
	struct fh_text_template_match m;
	return search(r, regex.regex, s, 0, &m);
}

struct fh_tpl_value fh_tpl_regex_replace(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s,
                                         struct fh_str with)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	struct fh_text_template_match m;
	size_t at = 0;
	for (size_t from = 0; search(r, regex.regex, s, from, &m); from = behind(s, &m)) {
		fh_buf_add(&out, s.p + at, m.from[0] - at);
		expand(&out, with, s, &m);
		at = m.to[0];
		if (!is_global(regex.regex))
			break;
	}
	fh_buf_add(&out, s.p + at, s.n - at);
	return fh_tpl_value_take(r, &out);
}

/* As JavaScript's s.match(): every match of a global expression, else the first with its groups; null when there is
 * none. */
struct fh_tpl_value fh_tpl_regex_match(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s)
{
	struct fh_tpl_value list = fh_tpl_value_array(r);
	struct fh_text_template_match m;
	bool all = is_global(regex.regex);
	for (size_t from = 0; search(r, regex.regex, s, from, &m); from = behind(s, &m)) {
		for (size_t g = 0; g < (all ? 1 : m.n); g++)
			fh_tpl_value_append(r, list,
			                    m.from[g] == SIZE_MAX
			                        ? FH_TPL_VALUE_UNDEFINED
			                        : fh_tpl_value_string(r, (struct fh_str){ s.p + m.from[g], m.to[g] - m.from[g] }));
		if (!all)
			break;
	}
	return json_array_size(list.json) ? list : (struct fh_tpl_value){ .kind = FH_TPL_NULL };
}

struct fh_tpl_value fh_tpl_regex_split(struct fh_tpl_render *r, struct fh_tpl_value regex, struct fh_str s)
{
	struct fh_tpl_value list = fh_tpl_value_array(r);
	struct fh_text_template_match m;
	size_t at = 0;
	for (size_t from = 0; search(r, regex.regex, s, from, &m); from = behind(s, &m)) {
		if (m.to[0] == m.from[0] && (m.to[0] == at || m.to[0] == s.n))
			continue;
		fh_tpl_value_append(r, list, fh_tpl_value_string(r, (struct fh_str){ s.p + at, m.from[0] - at }));
		at = m.to[0];
	}
	fh_tpl_value_append(r, list, fh_tpl_value_string(r, (struct fh_str){ s.p + at, s.n - at }));
	return list;
}
