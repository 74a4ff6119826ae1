/* SPDX-License-Identifier: MIT */
#include "base/escape.h"
#include "base/utf8.h"

/* Whether YAML refuses the character as it is (YAML 1.2, 5.1), or takes it for the end of a line (YAML 1.1, 4.1.4). */
static bool has_to_be_escaped(uint32_t c)
{
	return (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

static size_t next_character(struct fh_str s, uint32_t *ret)
{
	size_t n = (unsigned char)*s.p < 0x7f ? 1 : fh_utf8_decode(s, ret);
	return n ? n : 1;
}

void fh_escape_json_for_yaml(struct fh_buf *out, size_t from)
{
	size_t at = from;
	while (at < out->n) {
		uint32_t c = 0;
		size_t n = next_character((struct fh_str){ out->p + at, out->n - at }, &c);
		if (has_to_be_escaped(c))
			break;
		at += n;
	}
	if (at >= out->n)
		return;
	struct fh_str left = { NULL, out->n - at };
	fh_auto_free char *rest = fh_xmemdup(out->p + at, left.n);
	left.p = rest;
	fh_buf_truncate(out, at);
	while (left.n) {
		uint32_t c = 0;
		size_t n = next_character(left, &c);
		if (has_to_be_escaped(c))
			fh_buf_addf(out, "\\u%04x", c);
		else
			fh_buf_add(out, left.p, n);
		left.p += n, left.n -= n;
	}
}
