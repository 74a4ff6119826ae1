/* SPDX-License-Identifier: MIT */
/* Replies of the viewer's handlers. */
#pragma once
#include "server/http.h"

/* Replies {"error": …, "hint": …}. */
void fh_view_fail(struct fh_http_request *r, unsigned status, const char *format, ...) FH_PRINTF(3, 4);
void fh_view_fail_from(struct fh_http_request *r, const struct fh_error *err);
/* A number in the query, limited to [min, max]; the fallback when it is missing or no number. */
int64_t fh_view_query_int(const struct fh_http_request *r, const char *name, int64_t fallback, int64_t min,
                          int64_t max);
/* The value of Content-Disposition for a download. Characters of an eval's id that are not allowed in file names are
 * replaced. */
FH_OWN char *fh_view_attachment(const char *id, const char *extension);
