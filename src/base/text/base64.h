/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4), with padding and without line breaks. */
#pragma once
#include "base/buf.h"

void fh_base64_encode(struct fh_buf *out, struct fh_str bytes);
/* Strict: requires padding whose unused bits are zero, so that each value has exactly one text. For anything else,
 * returns -FH_E_ARGUMENT and leaves out unchanged. */
int fh_base64_decode(struct fh_buf *out, struct fh_str text);
