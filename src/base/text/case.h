/* SPDX-License-Identifier: MIT */
#pragma once
#include "base/base.h"

struct fh_buf;

/* Appends s in lower or upper case by Unicode's rules, as JavaScript's toLowerCase() and toUpperCase() do: a letter may
 * become several (ß, ﬁ), and a capital sigma at the end of a word becomes a final one. Bytes that are not UTF-8 stay.
 */
void fh_case_lower(struct fh_buf *out, struct fh_str s);
void fh_case_upper(struct fh_buf *out, struct fh_str s);
