/* SPDX-License-Identifier: MIT */
/* trajectory:tool-used, trajectory:tool-sequence and trajectory:step-count: which steps an agent took, and in which
 * order. */
#include "eval/assertions/trace/trace.h"

/* All matchers of a list of patterns or objects. */
struct matchers {
	struct fh_trace_matcher *items;
	size_t n;
};

static void matchers_release(struct matchers *m)
{
	for (size_t i = 0; i < m->n; i++)
		fh_trace_matcher_release(&m->items[i]);
	free(m->items);
}

static int matchers_of(const struct fh_assertion_call *call, const json_t *list, struct matchers *ret,
                       struct fh_error *err)
{
	size_t n = json_array_size(list);
	ret->items = fh_xcalloc(n + 1, sizeof(*ret->items));
	for (; ret->n < n; ret->n++) {
		int r = fh_trace_matcher_init(&ret->items[ret->n], call, json_array_get(list, ret->n), "tool", err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int steps_of_call(const struct fh_assertion_call *call, struct fh_trace_steps *ret, struct fh_error *err)
{
	const json_t *trace = NULL;
	int r = fh_trace_of(call, &trace, err);
	if (r == 0)
		fh_trace_steps_of(trace, ret);
	return r;
}

static size_t count(const struct fh_trace_steps *steps, const char *of_type, const struct fh_trace_matcher *m)
{
	size_t n = 0;
	for (size_t i = 0; i < steps->n; i++)
		n += (!of_type || fh_streq(steps->items[i].type, of_type)) && fh_trace_matches(m, &steps->items[i]);
	return n;
}

static void add_actual(struct fh_buf *out, const struct fh_trace_steps *steps)
{
	fh_buf_adds(out, ". Actual tools: ");
	fh_trace_add_steps(out, steps, "tool", NULL);
}

/* ------------------------------------------------------------------------------------------------------------- used */

static int check_list(const struct fh_assertion_call *call, const json_t *list, const struct fh_trace_steps *steps,
                      struct fh_grade *ret, struct fh_error *err)
{
	FH_CLEANUP(matchers_release) struct matchers m = { 0 };
	fh_auto_buf struct fh_buf all = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf used = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf missing = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	if (json_array_size(list) == 0)
		return fh_trace_wrong(call, err, "requires at least one expected tool");
	int r = matchers_of(call, list, &m, err);
	if (r < 0)
		return r;
	size_t found = 0;
	for (size_t i = 0; i < m.n; i++) {
		bool is_used = count(steps, "tool", &m.items[i]) > 0;
		found += is_used;
		fh_trace_add_item(&all, m.items[i].label);
		fh_trace_add_item(is_used ? &used : &missing, m.items[i].label);
	}
	bool pass = call->inverse ? found == 0 : found == m.n;
	if (call->inverse)
		fh_buf_addf(&reason, pass ? "Forbidden tool(s) were not used: %s" : "Forbidden tool(s) were used: %s",
		            fh_buf_cstr(pass ? &all : &used));
	else
		fh_buf_addf(&reason, pass ? "Observed required tool(s): %s" : "Missing required tool(s): %s",
		            fh_buf_cstr(pass ? &all : &missing));
	if (!call->inverse || !pass)
		add_actual(&reason, steps);
	return fh_trace_grade(ret, pass, &reason);
}

static int check_times(const struct fh_assertion_call *call, const struct fh_trace_steps *steps, struct fh_grade *ret,
                       struct fh_error *err)
{
	fh_auto_trace_matcher struct fh_trace_matcher m = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	bool has_min = false, has_max = false;
	double min = 0, max = 0;
	int r = fh_trace_matcher_init(&m, call, call->value, "tool", err);
	r = r < 0 ? r : fh_trace_number(call, "min", &has_min, &min, err);
	r = r < 0 ? r : fh_trace_number(call, "max", &has_max, &max, err);
	if (r == 0 && !m.named)
		r = fh_trace_wrong(call, err, "object must include a name or pattern property");
	if (r < 0)
		return r;
	min = has_min ? min : 1;
	size_t n = count(steps, "tool", &m);
	bool holds = (double)n >= min && (!has_max || (double)n <= max);
	if (call->inverse) {
		fh_buf_addf(&reason, "Tool \"%s\" ", m.label);
		if (holds)
			fh_buf_addf(&reason, "matched %zu time(s), which violates the inverse assertion", n);
		else
			fh_buf_adds(&reason, "did not satisfy the forbidden match condition");
		return fh_trace_grade(ret, !holds, &reason);
	}
	fh_buf_addf(&reason, "Matched tool \"%s\" %zu time(s)", m.label, n);
	fh_trace_add_range(&reason, &min, has_max ? &max : NULL);
	if (n) {
		fh_buf_adds(&reason, ". Matches: ");
		fh_trace_add_steps(&reason, steps, "tool", &m);
	}
	return fh_trace_grade(ret, holds, &reason);
}

static int check_tool_used(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_trace_steps struct fh_trace_steps steps = { 0 };
	int r = steps_of_call(call, &steps, err);
	if (r < 0)
		return r;
	if (json_is_object(call->value))
		return check_times(call, &steps, ret, err);
	fh_auto_json json_t *list =
	    json_is_string(call->value) ? json_pack("[O]", call->value) : json_incref((json_t *)(uintptr_t)call->value);
	bool texts = json_is_array(list);
	for (size_t i = 0; texts && i < json_array_size(list); i++)
		texts = json_is_string(json_array_get(list, i));
	if (!texts)
		return fh_trace_wrong(call, err, "must have a string, string array, or object value");
	return check_list(call, list, &steps, ret, err);
}

/* --------------------------------------------------------------------------------------------------------- sequence */

struct sequence {
	const struct fh_trace_steps *steps;
	const struct matchers *expected;
};

static void add_labels(struct fh_buf *out, const struct matchers *m)
{
	for (size_t i = 0; i < m->n; i++)
		fh_buf_addf(out, "%s%s", i ? ", " : "", m->items[i].label);
}

static bool judge_exact(struct fh_buf *out, const struct sequence *s)
{
	size_t seen = 0;
	bool holds = true;
	for (size_t i = 0; i < s->steps->n; i++) {
		const struct fh_trace_step *step = &s->steps->items[i];
		if (!fh_trace_is_tool(step))
			continue;
		holds = holds && seen < s->expected->n && fh_trace_matches(&s->expected->items[seen], step);
		seen++;
	}
	holds = holds && seen == s->expected->n;
	fh_buf_adds(out, holds ? "Observed exact tool sequence: " : "Expected exact tool sequence of ");
	if (!holds) {
		add_labels(out, s->expected);
		fh_buf_adds(out, ", but actual tools were ");
	}
	fh_trace_add_steps(out, s->steps, "tool", NULL);
	return holds;
}

static bool judge_in_order(struct fh_buf *out, const struct sequence *s)
{
	fh_auto_buf struct fh_buf matched = FH_BUF_INIT(0);
	size_t next = 0;
	for (size_t i = 0; i < s->steps->n && next < s->expected->n; i++) {
		const struct fh_trace_step *step = &s->steps->items[i];
		if (!fh_trace_is_tool(step) || !fh_trace_matches(&s->expected->items[next], step))
			continue;
		fh_buf_addf(&matched, "%s%s:%s", next ? ", " : "", step->type, step->name);
		next++;
	}
	bool holds = next == s->expected->n;
	if (holds)
		fh_buf_addf(out, "Observed tool sequence in order: %s", fh_buf_cstr(&matched));
	else
		fh_buf_addf(out, "Expected tool \"%s\" was not observed in order", s->expected->items[next].label);
	add_actual(out, s->steps);
	return holds;
}

static int sequence_of(const struct fh_assertion_call *call, struct matchers *ret, bool *ret_exact,
                       struct fh_error *err)
{
	const json_t *steps = json_is_object(call->value) ? json_object_get(call->value, "steps") : call->value;
	const char *mode = fh_json_str(call->value, "mode", "in_order");
	if (!json_is_array(call->value) && !json_is_object(call->value))
		return fh_trace_wrong(call, err, "must have an array or object value");
	if (json_array_size(steps) == 0)
		return fh_trace_wrong(call, err, "requires at least one expected step");
	if (!fh_streq(mode, "in_order") && !fh_streq(mode, "exact"))
		return fh_trace_wrong(call, err, "mode must be \"in_order\" or \"exact\"");
	int r = matchers_of(call, steps, ret, err);
	for (size_t i = 0; i < ret->n && r == 0; i++)
		if (!ret->items[i].named)
			r = fh_error_set(err, FH_E_ARGUMENT, "%s assertion step %zu must include a name or pattern property",
			                 call->kind->name, i + 1);
	*ret_exact = fh_streq(mode, "exact");
	return r;
}

static int check_sequence(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_trace_steps struct fh_trace_steps steps = { 0 };
	FH_CLEANUP(matchers_release) struct matchers expected = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	bool exact = false;
	int r = steps_of_call(call, &steps, err);
	r = r < 0 ? r : sequence_of(call, &expected, &exact, err);
	if (r < 0)
		return r;
	struct sequence s = { .steps = &steps, .expected = &expected };
	bool holds = exact ? judge_exact(&reason, &s) : judge_in_order(&reason, &s);
	if (!call->inverse)
		return fh_trace_grade(ret, holds, &reason);
	fh_buf_truncate(&reason, 0);
	fh_buf_adds(&reason, holds ? "Forbidden tool sequence was observed" : "Forbidden tool sequence was not observed");
	if (holds)
		add_actual(&reason, &steps);
	return fh_trace_grade(ret, !holds, &reason);
}

/* ------------------------------------------------------------------------------------------------------------ count */

static void add_filter(struct fh_buf *out, const struct fh_trace_matcher *m)
{
	fh_auto_buf struct fh_buf types = FH_BUF_INIT(0);
	for (size_t i = 0; i < json_array_size(m->types); i++)
		fh_buf_addf(&types, "%s%s", i ? "|" : "", json_string_value(json_array_get(m->types, i)));
	if (json_is_string(m->types))
		fh_buf_adds(&types, json_string_value(m->types));
	if (types.n)
		fh_buf_addf(out, " for type=%s", fh_buf_cstr(&types));
	if (m->named)
		fh_buf_addf(out, "%s pattern=%s", types.n ? "," : " for", m->label);
}

static int check_count(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_trace_steps struct fh_trace_steps steps = { 0 };
	fh_auto_trace_matcher struct fh_trace_matcher m = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	bool has_min = false, has_max = false;
	double min = 0, max = 0;
	int r = json_is_object(call->value) ? 0 : fh_trace_wrong(call, err, "must have an object value");
	r = r < 0 ? r : steps_of_call(call, &steps, err);
	r = r < 0 ? r : fh_trace_matcher_init(&m, call, call->value, NULL, err);
	r = r < 0 ? r : fh_trace_number(call, "min", &has_min, &min, err);
	r = r < 0 ? r : fh_trace_number(call, "max", &has_max, &max, err);
	if (r == 0 && !has_min && !has_max)
		r = fh_trace_wrong(call, err, "must include a min or max property");
	if (r < 0)
		return r;
	size_t n = count(&steps, NULL, &m);
	bool holds = (!has_min || (double)n >= min) && (!has_max || (double)n <= max);
	if (call->inverse) {
		fh_buf_addf(&reason, "Trajectory step count %s the forbidden range", holds ? "satisfied" : "did not satisfy");
		return fh_trace_grade(ret, !holds, &reason);
	}
	fh_buf_addf(&reason, "Matched %zu trajectory step(s)", n);
	add_filter(&reason, &m);
	fh_trace_add_range(&reason, has_min ? &min : NULL, has_max ? &max : NULL);
	if (n) {
		fh_buf_adds(&reason, ". Matches: ");
		fh_trace_add_steps(&reason, &steps, NULL, &m);
	}
	return fh_trace_grade(ret, holds, &reason);
}

const struct fh_assertion fh_assertion_trajectory_tool_used = { .name = "trajectory:tool-used",
	                                                            .check = check_tool_used };
const struct fh_assertion fh_assertion_trajectory_tool_sequence = { .name = "trajectory:tool-sequence",
	                                                                .check = check_sequence };
const struct fh_assertion fh_assertion_trajectory_step_count = { .name = "trajectory:step-count",
	                                                             .check = check_count };
