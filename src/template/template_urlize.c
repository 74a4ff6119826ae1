/* SPDX-License-Identifier: MIT */
#include "template/template_internal.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

/* The filter urlize: what looks like a link becomes one, by the rules of Nunjucks. */

static bool begins(struct fh_str s, const char *with)
{
	return s.n >= strlen(with) && memcmp(s.p, with, strlen(with)) == 0;
}

static bool ends(struct fh_str s, const char *with)
{
	size_t n = strlen(with);
	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

/* A word without the bracket before it and one mark behind it. */
static struct fh_str bare(struct fh_str s)
{
	static const char *const before[] = { "(", "<", "&lt;" }, *const after[] = { ".", ",", ")", "&gt;" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(before); i++)
		if (begins(s, before[i])) {
			s.p += strlen(before[i]), s.n -= strlen(before[i]);
			break;
		}
	for (size_t i = 0; i < FH_ARRAY_SIZE(after); i++)
		if (ends(s, after[i])) {
			s.n -= strlen(after[i]);
			break;
		}
	return s;
}

static bool is_email(struct fh_str s)
{
	const char *at = s.n ? memchr(s.p, '@', s.n) : NULL;
	if (!at || at == s.p)
		return false;
	for (const char *c = s.p; c < at; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.!#$%&'*+-/=?^`{|}~", *c))
			return false;
	size_t label = 0, dots = 0;
	for (const char *c = at + 1; c < s.p + s.n; c++) {
		bool dot = *c == '.';
		if (dot ? label == 0 : !isalnum((unsigned char)*c) && *c != '-')
			return false;
		dots += dot;
		label = dot ? 0 : label + 1;
	}
	return dots > 0 && label > 0;
}

static bool has_known_domain(struct fh_str s)
{
	static const char *const domains[] = { ".org", ".net", ".com" };
	for (size_t i = 0; i + 4 <= s.n; i++)
		for (size_t d = 0; d < FH_ARRAY_SIZE(domains); d++)
			if (memcmp(s.p + i, domains[d], 4) == 0 && (i + 4 == s.n || s.p[i + 4] == ':' || s.p[i + 4] == '/'))
				return true;
	return false;
}

static void add_word(struct fh_tpl_render *r, struct fh_buf *out, struct fh_str word, size_t length, bool nofollow)
{
	struct fh_str url = bare(word);
	bool whole = begins(url, "http://") || begins(url, "https://");
	if (!whole && !begins(url, "www.") && is_email(url)) {
		fh_buf_addf(out, "<a href=\"mailto:%.*s\">%.*s</a>", FH_STR_ARGS(url), FH_STR_ARGS(url));
	} else if (whole || begins(url, "www.") || has_known_domain(url)) {
		fh_buf_addf(out, "<a href=\"%s%.*s\"%s>", whole ? "" : "http://", FH_STR_ARGS(url),
		            nofollow ? " rel=\"nofollow\"" : "");
		fh_tpl_value_write(out, fh_tpl_text_slice(r, url, 0, length));
		fh_buf_adds(out, "</a>");
	} else {
		fh_buf_add(out, word.p, word.n);
	}
}

struct fh_tpl_value fh_tpl_filter_urlize(struct fh_tpl_render *r, struct fh_tpl_value v,
                                         const struct fh_tpl_value *args)
{
	struct fh_str s = v.kind <= FH_TPL_NULL ? fh_str("") : fh_tpl_value_str(fh_tpl_value_to_string(r, v));
	double want = fh_tpl_value_to_number(args[0]);
	size_t length = isnan(want) || want > 1e9 ? SIZE_MAX : want > 0 ? (size_t)want : 0;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(FH_TEXT_TEMPLATE_MEMORY_MAX);
	while (s.n > 0 && fh_tpl_render_step(r, r->at)) {
		size_t n = 0;
		while (n < s.n && isspace((unsigned char)s.p[n]))
			n++;
		fh_buf_add(&out, s.p, n);
		s.p += n, s.n -= n;
		for (n = 0; n < s.n && !isspace((unsigned char)s.p[n]);)
			n++;
		if (n)
			add_word(r, &out, (struct fh_str){ s.p, n }, length, args[1].kind == FH_TPL_BOOL && args[1].truth);
		s.p += n, s.n -= n;
	}
	return fh_tpl_value_take(r, &out);
}
