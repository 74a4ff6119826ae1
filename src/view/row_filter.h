/* SPDX-License-Identifier: MIT */
/* Which rows a request asks for, from its query; pages, exports and promptfoo's table read it alike. */
#pragma once
#include "server/http.h"
#include "store/rows.h"

/* mode, search, regex, column, metric, min, max, status, language, tag, order, desc, offset, limit; promptfoo's
 * filterMode beside mode. Texts are borrowed from the request. False: it has been replied to. */
bool fh_view_row_filter(struct fh_http_request *r, struct fh_store_row_filter *ret, struct fh_store_page *ret_page);
