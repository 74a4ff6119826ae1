/* SPDX-License-Identifier: MIT */
/* trajectory:goal-success: a model judges, by the steps that an agent took and its output, whether it reached a goal.
 */
#include "eval/assertions/graded/graded.h"
#include "eval/assertions/trace/trace.h"
#include "eval/common/text.h"

#define STEPS_SHOWN 24 /* of a long trajectory: the first half of them and the last */

/* The step as the grader gets it: {index, type, name, spanName?, status?}. */
static json_t *shown_step(const struct fh_trace_step *step, size_t index)
{
	const json_t *code = json_object_get(step->span, "statusCode");
	const char *span_name = fh_json_str(step->span, "name", ""),
	           *message = fh_json_str(step->span, "statusMessage", "");
	json_t *o = json_object();
	json_object_set_new(o, "index", json_integer((json_int_t)index + 1));
	json_object_set_new(o, "type", json_string(step->type));
	json_object_set_new(o, "name", json_string(step->name));
	if (!fh_streq(span_name, step->name))
		json_object_set_new(o, "spanName", json_string(span_name));
	if (json_is_number(code) && json_number_value(code) != 0) {
		json_t *status = json_pack("{s:O}", "code", code);
		if (*message)
			json_object_set_new(status, "message", json_string(message));
		json_object_set_new(o, "status", status);
	}
	return o;
}

static bool is_same(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "type", "name", "spanName", "status" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(keys); i++) {
		const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
		if (x != y && !json_equal(x, y))
			return false;
	}
	return true;
}

/* Steps that are alike and follow each other are one with a collapsedCount. */
static json_t *compacted(const struct fh_trace_steps *steps)
{
	json_t *list = json_array();
	for (size_t i = 0; i < steps->n; i++) {
		json_t *last = json_array_get(list, json_array_size(list) - 1);
		fh_auto_json json_t *step = shown_step(&steps->items[i], i);
		if (last && is_same(last, step))
			json_object_set_new(last, "collapsedCount", json_integer(fh_json_int(last, "collapsedCount", 1) + 1));
		else
			json_array_append(list, step);
	}
	return list;
}

static json_t *cut(const json_t *all)
{
	size_t n = json_array_size(all);
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		if (n > STEPS_SHOWN && i == STEPS_SHOWN / 2) {
			json_array_append_new(list, json_pack("{s:I}", "omittedCount", (json_int_t)(n - STEPS_SHOWN)));
			i = n - STEPS_SHOWN / 2;
		}
		json_array_append(list, json_array_get(all, i));
	}
	return list;
}

static char *summary(const json_t *trace)
{
	fh_auto_trace_steps struct fh_trace_steps steps = { 0 };
	fh_trace_steps_of(trace, &steps);
	fh_auto_json json_t *all = compacted(&steps);
	fh_auto_json json_t *o = json_object();
	json_t *id = json_object_get(trace, "traceId");
	if (id)
		json_object_set(o, "traceId", id);
	json_object_set_new(o, "stepCount", json_integer((json_int_t)steps.n));
	json_object_set_new(o, "compactedStepCount", json_integer((json_int_t)json_array_size(all)));
	json_object_set_new(o, "steps", cut(all));
	return fh_json_text(o, 2);
}

static int check_goal(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	const json_t *trace = NULL;
	const char *given =
	    json_is_string(call->value) ? json_string_value(call->value) : fh_json_str(call->value, "goal", "");
	struct fh_str trimmed = fh_text_trim(fh_str(given));
	fh_auto_free char *goal = fh_xstrndup(trimmed.p, trimmed.n);
	if (!*goal)
		return fh_trace_wrong(call, err, "must have a string value or an object with a goal property");
	int r = fh_trace_of(call, &trace, err);
	if (r < 0)
		return r;
	fh_auto_free char *trajectory = summary(trace);
	fh_auto_json json_t *vars = fh_graded_vars(call);
	fh_auto_json json_t *text = json_stringn(call->output_text.p, call->output_text.n);
	json_object_set_new(vars, "goal", json_string(goal));
	json_object_set_new(vars, "output", fh_rubric_parsed(text ? text : call->output));
	json_object_set_new(vars, "trajectory", json_string(trajectory));
	struct fh_assertion_call plain = *call;
	plain.inverse = false;
	r = fh_graded_rubric(&plain, vars, fh_rubric_prompt_goal, ret, err);
	if (r < 0 || !call->inverse)
		return r;
	free(ret->reason);
	ret->reason = fh_xasprintf(
	    ret->pass ? "Agent unexpectedly achieved the goal: %s" : "Agent did not achieve the forbidden goal: %s", goal);
	ret->pass = !ret->pass;
	ret->score = ret->pass;
	return 0;
}

const struct fh_assertion fh_assertion_trajectory_goal = {
	.name = "trajectory:goal-success", .check = check_goal, .graded = true, .asks = 1 << FH_PROVIDER_ANSWER
};
