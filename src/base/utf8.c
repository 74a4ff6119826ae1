/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

/*
 * Decodes the beginning of s (s.n > 0). True, with the code point, if a well-formed sequence starts there. *ret_n is
 * its length, or the length of the maximal ill-formed part, which one U+FFFD replaces (Unicode 3.9, best practice). The
 * first continuation byte has a narrower range after E0, ED, F0 and F4: no overlong forms, no surrogates.
 */
static bool step(struct fh_str s, uint32_t *ret_cp, size_t *ret_n)
{
	const unsigned char *p = (const unsigned char *)s.p;
	*ret_n = 1;
	if (p[0] < 0x80) {
		*ret_cp = p[0];
		return true;
	}
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return false;
	size_t more = p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
	uint32_t cp = p[0] & (0x3Fu >> more);
	unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
	for (size_t i = 1; i <= more; i++) {
		if (i >= s.n || p[i] < low || p[i] > high)
			return false;
		low = 0x80, high = 0xBF;
		cp = cp << 6 | (p[i] & 0x3Fu);
		*ret_n = i + 1;
	}
	*ret_cp = cp;
	return true;
}

size_t fh_utf8_decode(struct fh_str s, uint32_t *ret_cp)
{
	uint32_t cp;
	size_t n;
	if (s.n == 0 || !step(s, &cp, &n))
		return 0;
	*ret_cp = cp;
	return n;
}

size_t fh_utf8_encode(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

bool fh_utf8_valid(struct fh_str s)
{
	while (s.n > 0) {
		uint32_t cp;
		size_t n;
		if (!step(s, &cp, &n))
			return false;
		s.p += n, s.n -= n;
	}
	return true;
}

void fh_utf8_sanitize(struct fh_buf *out, struct fh_str s)
{
	size_t good = 0; /* the valid bytes before s.p + good are appended in one piece */
	while (good < s.n) {
		uint32_t cp;
		size_t n;
		if (step((struct fh_str){ s.p + good, s.n - good }, &cp, &n)) {
			good += n;
			continue;
		}
		fh_buf_add(out, s.p, good);
		fh_buf_adds(out, "\xEF\xBF\xBD");
		s.p += good + n, s.n -= good + n;
		good = 0;
	}
	fh_buf_add(out, s.p, s.n);
}
