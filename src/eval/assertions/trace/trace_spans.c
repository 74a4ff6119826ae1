/* SPDX-License-Identifier: MIT */
/* trace-span-count, trace-span-duration and trace-error-spans: the spans of a trace whose names match a pattern. */
#include <math.h>
#include "eval/assertions/trace/trace.h"

#define SHOWN_MAX 3

/* ------------------------------------------------------------------------------------------------ the spans meant */

struct chosen {
	const json_t **spans;
	size_t n;
	const char *pattern;
};

static void chosen_release(struct chosen *c)
{
	free(c->spans);
}

static int choose(const struct fh_assertion_call *call, struct chosen *ret, struct fh_error *err)
{
	const json_t *trace = NULL, *given = json_object_get(call->value, "pattern");
	fh_auto_pattern pcre2_code *code = NULL;
	if (given && !json_is_string(given))
		return fh_trace_wrong(call, err, "needs text as its pattern");
	const char *pattern = json_string_length(given) ? json_string_value(given) : "*";
	int r = fh_trace_of(call, &trace, err);
	r = r < 0 ? r : fh_trace_pattern(pattern, &code, err);
	if (r < 0)
		return r;
	const json_t *spans = json_object_get(trace, "spans");
	*ret = (struct chosen){ .spans = fh_xcalloc(json_array_size(spans) + 1, sizeof(*ret->spans)), .pattern = pattern };
	for (size_t i = 0; i < json_array_size(spans); i++) {
		const json_t *span = json_array_get(spans, i);
		if (fh_pattern_found(code, fh_str(fh_json_str(span, "name", ""))))
			ret->spans[ret->n++] = span;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ count */

static void add_names(struct fh_buf *out, const struct chosen *c)
{
	fh_auto_json json_t *seen = json_object();
	fh_auto_buf struct fh_buf list = FH_BUF_INIT(0);
	for (size_t i = 0; i < c->n; i++) {
		const char *name = fh_json_str(c->spans[i], "name", "");
		if (!json_object_get(seen, name))
			fh_trace_add_item(&list, name);
		json_object_set_new(seen, name, json_true());
	}
	if (c->n)
		fh_buf_addf(out, ". Matched spans: %s", fh_buf_cstr(&list));
}

static int check_count(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(chosen_release) struct chosen c = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	bool has_min = false, has_max = false;
	double min = 0, max = 0;
	if (json_string_length(json_object_get(call->value, "pattern")) == 0)
		return fh_trace_wrong(call, err, "must have a value object with pattern property");
	int r = fh_trace_number(call, "min", &has_min, &min, err);
	r = r < 0 ? r : fh_trace_number(call, "max", &has_max, &max, err);
	r = r < 0 ? r : choose(call, &c, err);
	if (r < 0)
		return r;
	double n = (double)c.n;
	fh_buf_addf(&reason, "Found %zu spans matching pattern \"%s\"", c.n, c.pattern);
	bool few = has_min && n < min, many = has_max && n > max;
	if (few || many)
		fh_trace_add_number(&reason, few ? ", expected at least " : ", expected at most ", few ? min : max, "");
	else
		fh_trace_add_range(&reason, has_min ? &min : NULL, has_max ? &max : NULL);
	add_names(&reason, &c);
	return fh_trace_grade(ret, (few || many) == call->inverse, &reason);
}

/* --------------------------------------------------------------------------------------------------------- duration */

struct timed {
	const char *name;
	double ms;
	size_t place; /* in the trace */
};

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;
	int order = (x->ms > y->ms) - (x->ms < y->ms);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* The slowest of `n` spans that are sorted by time, those of one time in the order of the trace. */
static void add_slowest(struct fh_buf *out, const struct timed *spans, size_t n, double from)
{
	size_t shown = 0;
	for (size_t end = n; end > 0 && shown < SHOWN_MAX;) {
		size_t start = end - 1;
		while (start > 0 && spans[start - 1].ms == spans[end - 1].ms)
			start--;
		for (size_t i = start; i < end && shown < SHOWN_MAX && spans[i].ms >= from; i++, shown++) {
			fh_buf_addf(out, "%s%s (", shown ? ", " : "", spans[i].name);
			fh_trace_add_number(out, "", spans[i].ms, "ms)");
		}
		end = start;
	}
}

static bool judge_each(struct fh_buf *out, const struct timed *spans, size_t n, const char *pattern, double max)
{
	size_t within = 0;
	while (within < n && spans[within].ms <= max)
		within++;
	if (within < n) {
		fh_buf_addf(out, "%zu span(s) exceed duration threshold ", n - within);
		fh_trace_add_number(out, "", max, "ms. Slowest: ");
		add_slowest(out, spans + within, n - within, 0);
		return false;
	}
	fh_buf_addf(out, "All %zu spans matching pattern \"%s\" completed within ", n, pattern);
	fh_trace_add_number(out, "", max, "ms (max: ");
	fh_trace_add_number(out, "", spans[n - 1].ms, "ms)");
	return true;
}

static bool judge_percentile(struct fh_buf *out, const struct timed *spans, size_t n, double percentile, double max)
{
	double at = ceil(percentile / 100 * (double)n) - 1;
	double reached = spans[at < 0 ? 0 : FH_MIN((size_t)at, n - 1)].ms;
	fh_trace_add_number(out, "", percentile, "th percentile duration (");
	fh_trace_add_number(out, "", reached, reached > max ? "ms) exceeds threshold " : "ms) is within threshold ");
	fh_trace_add_number(out, "", max, reached > max ? "ms. Slowest spans: " : "ms");
	if (reached > max)
		add_slowest(out, spans, n, reached);
	return reached <= max;
}

static int check_duration(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(chosen_release) struct chosen c = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	bool has_max = false, has_percentile = false;
	double max = 0, percentile = 0;
	int r = fh_trace_number(call, "max", &has_max, &max, err);
	r = r < 0 ? r : fh_trace_number(call, "percentile", &has_percentile, &percentile, err);
	if (r == 0 && !has_max)
		r = fh_trace_wrong(call, err, "must have a value object with max property");
	if (r == 0 && has_percentile && !(percentile >= 0 && percentile <= 100))
		r = fh_trace_wrong(call, err, "percentile must be a number between 0 and 100");
	r = r < 0 ? r : choose(call, &c, err);
	if (r < 0)
		return r;
	fh_auto_free struct timed *spans = fh_xcalloc(c.n + 1, sizeof(*spans));
	size_t n = 0;
	for (size_t i = 0; i < c.n; i++) {
		const json_t *start = json_object_get(c.spans[i], "startTime"), *end = json_object_get(c.spans[i], "endTime");
		if (json_is_number(start) && json_is_number(end))
			spans[n++] = (struct timed){ fh_json_str(c.spans[i], "name", ""),
				                         json_number_value(end) - json_number_value(start), i };
	}
	qsort(spans, n, sizeof(*spans), by_time);
	bool holds = true;
	if (n == 0)
		fh_buf_addf(&reason, "No spans found matching pattern \"%s\" with complete timing data", c.pattern);
	else if (has_percentile)
		holds = judge_percentile(&reason, spans, n, percentile, max);
	else
		holds = judge_each(&reason, spans, n, c.pattern, max);
	return fh_trace_grade(ret, holds != call->inverse, &reason);
}

/* ----------------------------------------------------------------------------------------------------------- errors */

static bool attributes_tell_error(const json_t *attributes)
{
	static const char *const flags[] = { "error", "exception", "failed", "failure" };
	static const char *const statuses[] = { "otel.status_code", "status.code" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(flags); i++) {
		const json_t *v = json_object_get(attributes, flags[i]);
		if (json_is_true(v) || json_is_object(v) || json_is_array(v) || fh_streq(json_string_value(v), "true"))
			return true;
	}
	const json_t *http = json_object_get(attributes, "http.status_code");
	if ((json_is_string(http) ? strtod(json_string_value(http), NULL) : json_number_value(http)) >= 400)
		return true;
	for (size_t i = 0; i < FH_ARRAY_SIZE(statuses); i++)
		if (fh_streq(fh_json_str(attributes, statuses[i], NULL), "ERROR"))
			return true;
	return false;
}

static bool is_error(const json_t *span)
{
	double status = fh_json_num(span, "statusCode", 0);
	const char *message = fh_json_str(span, "statusMessage", "");
	return status == 2 || status >= 400 || attributes_tell_error(json_object_get(span, "attributes")) ||
	       fh_pattern_own_found("error|failed|failure|exception|timeout|abort", PCRE2_CASELESS, fh_str(message));
}

static void add_error(struct fh_buf *list, const json_t *span)
{
	const char *message = fh_json_str(span, "statusMessage", "");
	double status = fh_json_num(span, "statusCode", 0);
	fh_trace_add_item(list, fh_json_str(span, "name", ""));
	if (*message)
		fh_buf_addf(list, " (%s)", message);
	else if (status != 0)
		fh_trace_add_number(list, " (status: ", status, ")");
}

struct allowed {
	bool has_count, has_percentage;
	double count, percentage;
};

static int allowed_of(const struct fh_assertion_call *call, struct allowed *ret, struct fh_error *err)
{
	*ret = (struct allowed){ 0 };
	if (json_is_number(call->value)) {
		*ret = (struct allowed){ .has_count = true, .count = json_number_value(call->value) };
		return 0;
	}
	if (call->value && !json_is_object(call->value) && !json_is_null(call->value))
		return fh_trace_wrong(call, err, "must have a number, or an object of max_count, max_percentage and pattern");
	int r = fh_trace_number(call, "max_count", &ret->has_count, &ret->count, err);
	r = r < 0 ? r : fh_trace_number(call, "max_percentage", &ret->has_percentage, &ret->percentage, err);
	ret->has_count = ret->has_count || !ret->has_percentage;
	return r;
}

static bool judge_errors(struct fh_buf *out, const struct chosen *c, const struct allowed *a, size_t errors,
                         const char *shown)
{
	double rate = (double)errors / (double)c->n * 100;
	if (a->has_count && (double)errors > a->count) {
		fh_buf_addf(out, "Found %zu error spans, expected at most ", errors);
		fh_trace_add_number(out, "", a->count, ". Errors: ");
		fh_buf_adds(out, shown);
		if (errors > SHOWN_MAX)
			fh_buf_addf(out, " and %zu more", errors - SHOWN_MAX);
		return false;
	}
	if (a->has_percentage && rate > a->percentage) {
		fh_buf_addf(out, "Error rate %.1f%% exceeds threshold ", rate);
		fh_trace_add_number(out, "", a->percentage, "% ");
		fh_buf_addf(out, "(%zu errors out of %zu spans)", errors, c->n);
		return false;
	}
	if (errors == 0) {
		fh_buf_addf(out, "No errors found in %zu spans matching pattern \"%s\"", c->n, c->pattern);
		return true;
	}
	fh_buf_addf(out, "Found %zu error(s) in %zu spans (%.1f%%)", errors, c->n, rate);
	if (a->has_count)
		fh_trace_add_number(out, ", within threshold of ", a->count, "");
	if (a->has_percentage)
		fh_trace_add_number(out, ", within threshold of ", a->percentage, "%");
	return true;
}

static int check_errors(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(chosen_release) struct chosen c = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf shown = FH_BUF_INIT(0);
	struct allowed a;
	int r = allowed_of(call, &a, err);
	r = r < 0 ? r : choose(call, &c, err);
	if (r < 0)
		return r;
	size_t errors = 0;
	for (size_t i = 0; i < c.n; i++)
		if (is_error(c.spans[i]) && errors++ < SHOWN_MAX)
			add_error(&shown, c.spans[i]);
	bool holds = true;
	if (c.n == 0)
		fh_buf_addf(&reason, "No spans found matching pattern \"%s\"", c.pattern);
	else
		holds = judge_errors(&reason, &c, &a, errors, fh_buf_cstr(&shown));
	return fh_trace_grade(ret, holds != call->inverse, &reason);
}

const struct fh_assertion fh_assertion_trace_span_count = { .name = "trace-span-count", .check = check_count };
const struct fh_assertion fh_assertion_trace_span_duration = { .name = "trace-span-duration", .check = check_duration };
const struct fh_assertion fh_assertion_trace_error_spans = { .name = "trace-error-spans", .check = check_errors };
