/* SPDX-License-Identifier: MIT */
/* UTF-8, strict (RFC 3629: no surrogates, no overlong forms, nothing over U+10FFFF). */
#pragma once
#include "base/buf.h"

#define FH_UTF8_REPLACEMENT 0xFFFD

/* Decodes the code point at s.p (s.n > 0). Returns its length in bytes; or 0, leaving *ret_cp untouched, if the bytes
 * are not valid UTF-8. */
size_t fh_utf8_decode(struct fh_str s, uint32_t *ret_cp);
/* Writes cp (a Unicode scalar value) to out[4]; returns the length. */
size_t fh_utf8_encode(uint32_t cp, char out[4]);

bool fh_utf8_valid(struct fh_str s);
/* Appends s with each maximal ill-formed sequence replaced by U+FFFD, like browsers and Python's errors="replace". */
void fh_utf8_sanitize(struct fh_buf *out, struct fh_str s);
