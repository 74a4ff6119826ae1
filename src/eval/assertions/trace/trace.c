/* SPDX-License-Identifier: MIT */
#include "eval/assertions/trace/trace.h"

int fh_trace_of(const struct fh_assertion_call *call, const json_t **ret, struct fh_error *err)
{
	const json_t *trace = json_object_get(json_object_get(call->response, "metadata"), "trace");
	const json_t *spans = json_object_get(trace, "spans");
	const char *kind = call->kind->name;
	if (!trace || json_is_null(trace))
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "No trace data available for %s assertion: the provider's answer has no metadata.trace",
		                    kind);
	if (!json_is_array(spans))
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\": metadata.trace of the answer has no list of spans", kind);
	if (json_array_size(spans) > FH_TRACE_SPANS_MAX)
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\": the trace has more than %d spans", kind, FH_TRACE_SPANS_MAX);
	for (size_t i = 0; i < json_array_size(spans); i++)
		if (!json_is_string(json_object_get(json_array_get(spans, i), "name")))
			return fh_error_set(err, FH_E_ARGUMENT, "\"%s\": span %zu of the trace has no name", kind, i);
	*ret = trace;
	return 0;
}

int fh_trace_grade(struct fh_grade *ret, bool pass, struct fh_buf *reason)
{
	ret->pass = pass;
	ret->score = pass;
	ret->reason = fh_buf_take(reason, NULL);
	return 0;
}

int fh_trace_wrong(const struct fh_assertion_call *call, struct fh_error *err, const char *what)
{
	return fh_error_set(err, FH_E_ARGUMENT, "%s assertion %s", call->kind->name, what);
}

int fh_trace_number(const struct fh_assertion_call *call, const char *key, bool *ret_given, double *ret,
                    struct fh_error *err)
{
	const json_t *v = json_object_get(call->value, key);
	if (v && !json_is_null(v) && !json_is_number(v))
		return fh_error_set(err, FH_E_ARGUMENT, "%s assertion: \"%s\" must be a number", call->kind->name, key);
	*ret_given = json_is_number(v);
	*ret = json_number_value(v);
	return 0;
}

int fh_trace_pattern(const char *pattern, pcre2_code **ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	fh_buf_addc(&b, '^');
	for (const char *s = pattern; *s; s++) {
		if (strchr(".+^${}()|[]\\", *s))
			fh_buf_addc(&b, '\\');
		fh_buf_adds(&b, *s == '*' ? ".*" : *s == '?' ? "." : (char[2]){ *s, 0 });
	}
	fh_buf_addc(&b, '$');
	return fh_pattern_compile_flags(fh_buf_str(&b), "i", ret, err);
}

void fh_trace_add_item(struct fh_buf *out, const char *item)
{
	fh_buf_addf(out, "%s%s", out->n ? ", " : "", item);
}

void fh_trace_add_number(struct fh_buf *out, const char *before, double n, const char *behind)
{
	fh_buf_adds(out, before);
	fh_json_write_number(out, n);
	fh_buf_adds(out, behind);
}

void fh_trace_add_range(struct fh_buf *out, const double *min, const double *max)
{
	if (min && max) {
		fh_trace_add_number(out, " (expected ", *min, "-");
		fh_trace_add_number(out, "", *max, ")");
	} else if (min || max) {
		fh_trace_add_number(out, min ? " (expected at least " : " (expected at most ", min ? *min : *max, ")");
	}
}

void fh_trace_matcher_release(struct fh_trace_matcher *m)
{
	pcre2_code_free(m->code);
	*m = (struct fh_trace_matcher){ 0 };
}

int fh_trace_matcher_init(struct fh_trace_matcher *m, const struct fh_assertion_call *call, const json_t *value,
                          const char *usual_type, struct fh_error *err)
{
	*m = (struct fh_trace_matcher){ .usual_type = usual_type, .label = "*" };
	const json_t *pattern = json_object_get(value, "pattern"), *name = json_object_get(value, "name");
	const json_t *types = json_object_get(value, "type");
	const json_t *given = json_is_object(value) ? pattern : value;
	if (json_is_object(value) && (!given || fh_streq(json_string_value(given), "")))
		given = name;
	if ((given && !json_is_string(given)) || (!given && !json_is_object(value)))
		return fh_trace_wrong(call, err, "needs text as the name or pattern of a step");
	if (types && !json_is_string(types) && !json_is_array(types))
		return fh_trace_wrong(call, err, "needs text, or a list of it, as the type of a step");
	m->types = types;
	if (!given || json_string_length(given) == 0)
		return 0;
	m->label = json_string_value(given);
	m->named = true;
	return fh_trace_pattern(m->label, &m->code, err);
}

static bool is_of_type(const struct fh_trace_matcher *m, const char *type)
{
	if (!m->types)
		return !m->usual_type || fh_streq(m->usual_type, type);
	if (json_is_string(m->types))
		return fh_streq(json_string_value(m->types), type);
	for (size_t i = 0; i < json_array_size(m->types); i++)
		if (fh_streq(json_string_value(json_array_get(m->types, i)), type))
			return true;
	return false;
}

bool fh_trace_matches(const struct fh_trace_matcher *m, const struct fh_trace_step *step)
{
	const char *const names[] = { fh_json_str(step->span, "name", ""), step->name, step->alias, step->program };
	if (!is_of_type(m, step->type))
		return false;
	for (size_t i = 0; m->code && i < FH_ARRAY_SIZE(names); i++)
		if (names[i] && fh_pattern_found(m->code, fh_str(names[i])))
			return true;
	return !m->code;
}

void fh_trace_add_steps(struct fh_buf *out, const struct fh_trace_steps *steps, const char *of_type,
                        const struct fh_trace_matcher *matcher)
{
	fh_auto_buf struct fh_buf list = FH_BUF_INIT(0);
	for (size_t i = 0; i < steps->n; i++) {
		const struct fh_trace_step *s = &steps->items[i];
		if ((of_type && !fh_streq(s->type, of_type)) || (matcher && !fh_trace_matches(matcher, s)))
			continue;
		fh_buf_addf(&list, "%s%s:%s", list.n ? ", " : "", s->type, s->name);
	}
	fh_buf_adds(out, list.n ? fh_buf_cstr(&list) : "(none)");
}
