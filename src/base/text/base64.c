/* SPDX-License-Identifier: MIT */
#include "base/text/base64.h"

#include "fumehood/error.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fh_base64_encode(struct fh_buf *out, struct fh_str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	char *o = fh_buf_reserve(out, (s.n + 2) / 3 * 4);
	if (!o)
		return;
	for (size_t i = 0; i < s.n; i += 3) {
		size_t left = s.n - i;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
		*o++ = alphabet[v >> 18];
		*o++ = alphabet[v >> 12 & 63];
		*o++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
		*o++ = left > 2 ? alphabet[v & 63] : '=';
		out->n += 4;
	}
	if (out->p)
		out->p[out->n] = '\0';
}

static int digit(char c)
{
	const char *at = c ? memchr(alphabet, c, 64) : NULL;
	return at ? (int)(at - alphabet) : -1;
}

int fh_base64_decode(struct fh_buf *out, struct fh_str s)
{
	size_t before = out->n;
	if (s.n % 4)
		return -FH_E_ARGUMENT;
	for (size_t i = 0; i < s.n; i += 4) {
		unsigned pad = i + 4 == s.n ? (s.p[i + 3] == '=') + (s.p[i + 3] == '=' && s.p[i + 2] == '=') : 0;
		uint32_t v = 0;
		for (unsigned k = 0; k < 4; k++) {
			int d = k >= 4 - pad ? 0 : digit(s.p[i + k]);
			if (d < 0)
				goto refuse;
			v = v << 6 | (uint32_t)d;
		}
		if (v & ((1u << (8 * pad)) - 1))
			goto refuse;
		char bytes[3] = { (char)(v >> 16), (char)(v >> 8), (char)v };
		fh_buf_add(out, bytes, 3 - pad);
	}
	return 0;
refuse:
	fh_buf_truncate(out, before);
	return -FH_E_ARGUMENT;
}
