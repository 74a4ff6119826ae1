/* SPDX-License-Identifier: MIT */
#include "view/row_filter.h"

#include <math.h>

#include "store/search.h"
#include "view/reply.h"

enum { PAGE_DEFAULT = 50, PAGE_MAX = 1000 };

static const char *text(const struct fh_http_request *r, const char *name)
{
	const char *value = fh_http_query(r, name);
	return value && *value ? value : NULL;
}

static bool is_set(const struct fh_http_request *r, const char *name)
{
	const char *value = text(r, name);
	return value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

static bool number(const struct fh_http_request *r, const char *name, double *ret)
{
	const char *value = text(r, name);
	char *end = NULL;
	double d = value ? strtod(value, &end) : NAN;
	if (!value || end == value || *end || !isfinite(d))
		return false;
	*ret = d;
	return true;
}

static bool read_mode(struct fh_http_request *r, enum fh_store_show *ret)
{
	static const struct {
		const char *promptfoo, *ours;
	} names[] = { { "failures", "failed" },
		          { "passes", "passed" },
		          { "user-rated", "rated" },
		          { "highlights", "rated" },
		          { "different-outputs", "different" } };
	const char *mode = text(r, "mode") ? text(r, "mode") : text(r, "filterMode");
	for (size_t i = 0; mode && i < FH_ARRAY_SIZE(names); i++)
		if (strcmp(mode, names[i].promptfoo) == 0)
			mode = names[i].ours;
	if (!mode || fh_store_show_of_name(mode, ret))
		return true;
	fh_view_fail(r, 400, "mode %s is not one of all, passed, failed, errors, not-good, different, rated", mode);
	return false;
}

bool fh_view_row_filter(struct fh_http_request *r, struct fh_store_row_filter *ret, struct fh_store_page *ret_page)
{
	struct fh_store_row_filter f = FH_STORE_ROW_FILTER_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const char *order = text(r, "order");
	struct fh_store_page page = { .descending = is_set(r, "desc"),
		                          .offset = (uint64_t)fh_view_query_int(r, "offset", 0, 0, INT32_MAX),
		                          .limit = (uint64_t)fh_view_query_int(r, "limit", PAGE_DEFAULT, 1, PAGE_MAX) };
	f.column = (int)fh_view_query_int(r, "column", -1, -1, INT32_MAX);
	if (is_set(r, "regex"))
		f.regexp = text(r, "search");
	else
		f.text = text(r, "search");
	f.metric = text(r, "metric");
	f.has_metric_min = number(r, "min", &f.metric_min);
	f.has_metric_max = number(r, "max", &f.metric_max);
	f.status = text(r, "status");
	f.language = text(r, "language");
	f.tag = text(r, "tag");
	if (!read_mode(r, &f.show))
		return false;
	if (order && !fh_store_order_of_name(order, &page.order)) {
		fh_view_fail(r, 400, "order %s is not one of index, score, latency, cost, tokens", order);
		return false;
	}
	if (f.regexp && fh_search_check(f.regexp, &err) < 0) {
		fh_view_fail_from(r, &err);
		return false;
	}
	*ret = f;
	*ret_page = page;
	return true;
}
