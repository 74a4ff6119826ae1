/* SPDX-License-Identifier: MIT */
/* What the viewer's handlers reply with. */
#pragma once
#include "server/http.h"

/* {"error": …, "hint": …} */
void fh_view_fail(struct fh_http_request *r, unsigned status, const char *format, ...) FH_PRINTF(3, 4);
void fh_view_fail_from(struct fh_http_request *r, const struct fh_error *err);
/* A number of the query within bounds; the fallback when it is absent or none. */
int64_t fh_view_query_int(const struct fh_http_request *r, const char *name, int64_t fallback, int64_t min,
                          int64_t max);
/* The header Content-Disposition for a file to be kept. An eval's id may hold anything; a file's name may not. */
FH_OWN char *fh_view_attachment(const char *id, const char *extension);
