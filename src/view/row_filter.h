/* SPDX-License-Identifier: MIT */
/* Reads from a request's query which rows it wants; used by pages, exports and promptfoo's table. */
#pragma once
#include "server/http.h"
#include "store/rows.h"

enum { FH_VIEW_PAGE_DEFAULT = 50 }; /* rows of a page, if `limit` does not say it */

/* Reads mode, search, regex, column, metric, min, max, status, language, tag, order, desc, offset, limit; promptfoo's
 * filterMode is accepted like mode, and its `filter`, as far as it can be said with the others. Texts are borrowed from
 * the request, whose kept pointer it may use. False: it has replied with an error. */
bool fh_view_row_filter(struct fh_http_request *r, struct fh_store_row_filter *ret, struct fh_store_page *ret_page);
/* Whether the filter selects all rows. */
bool fh_view_row_filter_is_empty(const struct fh_store_row_filter *f);
