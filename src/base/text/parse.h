/* SPDX-License-Identifier: MIT */
/* Parses numbers as people write them; the whole text must be valid. On an error, -FH_E_ARGUMENT and a message that
 * says what is allowed. */
#pragma once
#include "base/error.h"

int fh_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret, struct fh_error *err);
int fh_parse_double(const char *s, double min, double max, double *ret, struct fh_error *err);
/* "512M", "1.5G", "4096": bytes. K, M, G, T are powers of 1024, in upper or lower case, optionally followed by B or
 * iB. */
int fh_parse_size(const char *s, uint64_t *ret_bytes, struct fh_error *err);
/* Seconds ("10", "0.5"), or with a unit ("250ms", "10s", "2m"); the result is in ms. */
int fh_parse_duration(const char *s, uint64_t *ret_ms, struct fh_error *err);
