/* SPDX-License-Identifier: MIT */
#include "view/row_filter.h"

#include <math.h>

#include "store/search.h"
#include "view/reply.h"

enum { PAGE_MAX = 1000 };

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

/* ------------------------------------------------------------------------------------------- promptfoo's `filter` */

/* A condition on a metric. Bounds are inclusive, so "more than" begins at the next number. */
static bool take_metric(const char *name, const char *operator, double value, struct fh_store_row_filter *f)
{
	static const struct {
		const char *operator;
		bool min, max;
		double toward; /* where an exclusive bound moves; 0: it is inclusive */
	} bounds[] = {
		{ "is_defined", false, false, 0 }, { "eq", true, true, 0 },         { "gte", true, false, 0 },
		{ "lte", false, true, 0 },         { "gt", true, false, INFINITY }, { "lt", false, true, -INFINITY },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(bounds); i++) {
		if (strcmp(bounds[i].operator, operator) != 0 || ((bounds[i].min || bounds[i].max) && !isfinite(value)))
			continue;
		double bound = bounds[i].toward != 0 ? nextafter(value, bounds[i].toward) : value;
		f->metric = name;
		f->has_metric_min = bounds[i].min;
		f->has_metric_max = bounds[i].max;
		f->metric_min = f->metric_max = bound;
		return true;
	}
	return false;
}

static double number_of(const json_t *v)
{
	const char *text = json_string_value(v);
	char *end = NULL;
	double n = text ? strtod(text, &end) : json_is_number(v) ? json_number_value(v) : NAN;
	return text && (end == text || *end) ? NAN : n;
}

/* One filter {type, operator, field, value, logicOperator}; its texts stay those of `given`. */
static bool take_filter(json_t *given, struct fh_store_row_filter *f)
{
	const char *type = fh_json_str(given, "type", ""), *operator= fh_json_str(given, "operator", "");
	const char *field = fh_json_str(given, "field", ""), *value = fh_json_str(given, "value", "");
	const char *logic = fh_json_str(given, "logicOperator", "and");
	if (strcasecmp(logic, "and") != 0)
		return false;
	if (strcmp(type, "metric") == 0 && !f->metric) {
		bool names_it = !*field && *value && strcmp(operator, "equals") == 0;
		return (*field || *value) && take_metric(*field ? field : value, names_it ? "is_defined" : operator,
		                                         number_of(json_object_get(given, "value")), f);
	}
	if (strcmp(type, "metadata") == 0 && !f->tag && *field && strcmp(operator, "equals") == 0) {
		fh_auto_free char *tag = fh_xasprintf("%s=%s", field, value);
		json_object_set_new(given, "tag", json_string(tag));
		f->tag = fh_json_str(given, "tag", NULL);
		return f->tag != NULL;
	}
	return false;
}

static void drop_json(void *json)
{
	json_decref(json);
}

static bool read_filters(struct fh_http_request *r, struct fh_store_row_filter *f)
{
	json_t *kept = json_array();
	const char *value;
	if (!fh_http_query(r, "filter")) {
		json_decref(kept);
		return true;
	}
	fh_http_request_keep(r, kept, drop_json);
	for (size_t i = 0; (value = fh_http_query_nth(r, "filter", i)); i++) {
		json_t *given = fh_json_parse(fh_str(value), NULL, NULL);
		if (given)
			json_array_append_new(kept, given);
		if (!given || !take_filter(given, f)) {
			fh_view_fail(r, 400,
			             "this filter is not known here: one metric (is_defined, eq, gt, gte, lt, lte) and one "
			             "metadata (equals) can be asked for, joined by \"and\"");
			return false;
		}
	}
	return true;
}

bool fh_view_row_filter_is_empty(const struct fh_store_row_filter *f)
{
	return f->show == FH_STORE_SHOW_ALL && f->column < 0 && !f->text && !f->regexp && !f->metric && !f->status &&
	       !f->language && !f->tag;
}

bool fh_view_row_filter(struct fh_http_request *r, struct fh_store_row_filter *ret, struct fh_store_page *ret_page)
{
	struct fh_store_row_filter f = FH_STORE_ROW_FILTER_INIT;
	struct fh_error err = FH_ERROR_INIT;
	const char *order = text(r, "order");
	struct fh_store_page page = { .descending = is_set(r, "desc"),
		                          .offset = (uint64_t)fh_view_query_int(r, "offset", 0, 0, INT32_MAX),
		                          .limit = (uint64_t)fh_view_query_int(r, "limit", FH_VIEW_PAGE_DEFAULT, 1, PAGE_MAX) };
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
	if (!read_mode(r, &f.show) || !read_filters(r, &f))
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
