/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"
#include "template/template_internal.h"

size_t fh_tpl_text_units(struct fh_str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		n += (c & 0xC0) != 0x80;
		n += c >= 0xF0; /* outside of the basic plane UTF-16 needs a surrogate pair */
	}
	return n;
}

struct fh_tpl_value fh_tpl_text_slice(struct fh_tpl_render *r, struct fh_str s, size_t from, size_t to)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	size_t unit = 0;
	while (s.n > 0 && unit < to) {
		uint32_t cp = 0;
		size_t n = fh_utf8_decode(s, &cp);
		n = n ? n : 1;
		size_t units = cp >= 0x10000 ? 2 : 1;
		if (unit >= from && unit + units <= to)
			fh_buf_add(&out, s.p, n);
		else if (unit + units > from)
			fh_buf_adds(&out, "\xEF\xBF\xBD");
		unit += units;
		s.p += n, s.n -= n;
	}
	return fh_tpl_value_take(r, &out);
}

/* Length in bytes of the white space character (JavaScript's definition) at s, or 0. */
static size_t blank_at(struct fh_str s)
{
	uint32_t cp = 0;
	size_t n = s.n ? fh_utf8_decode(s, &cp) : 0;
	bool blank = cp == ' ' || (cp >= '\t' && cp <= '\r') || cp == 0xA0 || cp == 0xFEFF || cp == 0x1680 ||
	             (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F ||
	             cp == 0x3000;
	return blank ? n : 0;
}

struct fh_str fh_tpl_text_trim(struct fh_str s, bool left, bool right)
{
	for (size_t n; left && (n = blank_at(s)) > 0;)
		s.p += n, s.n -= n;
	while (right && s.n > 0) {
		size_t start = s.n - 1;
		while (start > 0 && ((unsigned char)s.p[start] & 0xC0) == 0x80)
			start--;
		if (blank_at((struct fh_str){ s.p + start, s.n - start }) == 0)
			break;
		s.n = start;
	}
	return s;
}

ssize_t fh_tpl_text_find(struct fh_str s, struct fh_str needle, size_t from)
{
	if (from > s.n)
		return -1;
	if (needle.n == 0)
		return (ssize_t)from;
	const char *at = memmem(s.p + from, s.n - from, needle.p, needle.n);
	return at ? at - s.p : -1;
}
