/* SPDX-License-Identifier: MIT */
/* Exports of an eval's rows, in forms of a table (export.c). */
#pragma once
#include "server/http.h"

/* Streams the rows that the request's filters select, of the eval that its first segment names. `form`: csv, json,
 * yaml; or promptfoo's: "promptfoo" (a whole eval), "promptfoo-csv". */
void fh_view_export_reply(struct fh_http_request *r, const char *form);
