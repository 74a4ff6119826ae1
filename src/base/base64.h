/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4), with padding and without line breaks. */
#pragma once
#include "base/buf.h"

void fh_base64_encode(struct fh_buf *out, struct fh_str bytes);
/* Strict: the padding has to be there and its unused bits zero, so that one text stands for one value. Returns
 * -FH_E_ARGUMENT, with out as it was, for anything else. */
int fh_base64_decode(struct fh_buf *out, struct fh_str text);
