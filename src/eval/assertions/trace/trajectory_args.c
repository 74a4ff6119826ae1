/* SPDX-License-Identifier: MIT */
/* trajectory:tool-args-match: a tool was called with these arguments. */
#include "eval/assertions/trace/trace.h"
#include "eval/common/text.h"

/* An argument's name, or a pattern with * or ? for several. */
struct ignored {
	const char *name;
	pcre2_code *code; /* NULL: the name is none */
};

struct wanted {
	struct fh_trace_matcher tool;
	const json_t *args;
	const json_t *defaults; /* arguments that count as not given when they have this value; NULL: none */
	bool exact;
	struct ignored *ignored; /* arguments that are not looked at */
	size_t ignored_count;
};

static void wanted_release(struct wanted *w)
{
	fh_trace_matcher_release(&w->tool);
	for (size_t i = 0; i < w->ignored_count; i++)
		pcre2_code_free(w->ignored[i].code);
	free(w->ignored);
}

static int ignored_of(const struct fh_assertion_call *call, struct wanted *ret, struct fh_error *err)
{
	const json_t *given = json_object_get(call->value, "ignore");
	fh_auto_json json_t *list =
	    json_is_string(given) ? json_pack("[O]", given) : json_incref((json_t *)(uintptr_t)given);
	ret->ignored = fh_xcalloc(json_array_size(list) + 1, sizeof(*ret->ignored));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		if (!name || fh_text_trim(fh_str(name)).n == 0)
			return fh_trace_wrong(call, err, "ignore must be a non-empty string or an array of non-empty strings");
		struct ignored *one = &ret->ignored[ret->ignored_count++];
		one->name = name;
		int r = strpbrk(name, "*?") ? fh_trace_pattern(name, &one->code, err) : 0;
		if (r < 0)
			return r;
	}
	if (given && !json_is_array(list))
		return fh_trace_wrong(call, err, "ignore must be a non-empty string or an array of non-empty strings");
	return 0;
}

static int wanted_of(const struct fh_assertion_call *call, struct wanted *ret, struct fh_error *err)
{
	const json_t *mode = json_object_get(call->value, "mode");
	if (!json_is_object(call->value))
		return fh_trace_wrong(call, err, "must have an object value");
	int r = fh_trace_matcher_init(&ret->tool, call, call->value, "tool", err);
	if (r < 0)
		return r;
	if (!ret->tool.named)
		return fh_trace_wrong(call, err, "object must include a name or pattern property");
	ret->args = json_object_get(call->value, "args");
	ret->args = ret->args ? ret->args : json_object_get(call->value, "arguments");
	if (!ret->args)
		return fh_trace_wrong(call, err, "must include an args or arguments property");
	ret->exact = fh_streq(json_string_value(mode), "exact");
	if (mode && !ret->exact && !fh_streq(json_string_value(mode), "partial"))
		return fh_trace_wrong(call, err, "mode must be \"partial\" or \"exact\"");
	ret->defaults = json_object_get(call->value, "defaults");
	if (ret->defaults && !json_is_object(ret->defaults))
		return fh_trace_wrong(call, err, "defaults must be an object mapping argument names to default values");
	return ignored_of(call, ret, err);
}

/* ------------------------------------------------------------------------------------------------------- comparison */

static bool is_part(const json_t *actual, const json_t *expected, bool exact);

static bool is_part_of_object(const json_t *actual, const json_t *expected, bool exact)
{
	const char *key;
	json_t *v;
	if (!json_is_object(actual) || (exact && json_object_size(actual) != json_object_size(expected)))
		return false;
	json_object_foreach((json_t *)(uintptr_t)expected, key, v)
	{
		const json_t *own = json_object_get(actual, key);
		if (!own || !is_part(own, v, exact))
			return false;
	}
	return true;
}

/* Whether the values are equal; unless exact, objects may have more members than are expected. */
static bool is_part(const json_t *actual, const json_t *expected, bool exact)
{
	if (json_is_object(expected))
		return is_part_of_object(actual, expected, exact);
	if (json_is_number(expected))
		return json_is_number(actual) && json_number_value(actual) == json_number_value(expected);
	if (!json_is_array(expected))
		return json_equal(actual, expected);
	if (!json_is_array(actual) || json_array_size(actual) != json_array_size(expected))
		return false;
	for (size_t i = 0; i < json_array_size(expected); i++)
		if (!is_part(json_array_get(actual, i), json_array_get(expected, i), exact))
			return false;
	return true;
}

static bool is_ignored(const struct wanted *w, const char *name)
{
	for (size_t i = 0; i < w->ignored_count; i++)
		if (w->ignored[i].code ? fh_pattern_found(w->ignored[i].code, fh_str(name))
		                       : fh_streq(w->ignored[i].name, name))
			return true;
	return false;
}

/* The arguments that count. `ignored` and `usual` get the names of the others: of those that are not looked at, and of
 * those with their default value (NULL: defaults count). New reference. */
static json_t *cleaned(const struct wanted *w, const json_t *args, struct fh_buf *ignored, struct fh_buf *usual)
{
	const char *key;
	json_t *v;
	if (!json_is_object(args))
		return json_incref((json_t *)(uintptr_t)args);
	json_t *kept = json_object();
	json_object_foreach((json_t *)(uintptr_t)args, key, v)
	{
		const json_t *by_default = usual ? json_object_get(w->defaults, key) : NULL;
		if (is_ignored(w, key))
			fh_trace_add_item(ignored, key);
		else if (by_default && is_part(v, by_default, true))
			fh_trace_add_item(usual, key);
		else
			json_object_set(kept, key, v);
	}
	return kept;
}

/* ------------------------------------------------------------------------------------------------------------ check */

struct calls {
	size_t matching, with_args;
	const struct fh_trace_step *found; /* NULL: none has the arguments */
	struct fh_buf observed, ignored, usual;
};

static void calls_release(struct calls *c)
{
	fh_buf_release(&c->observed);
	fh_buf_release(&c->ignored);
	fh_buf_release(&c->usual);
}

static void look_at(struct calls *c, const struct wanted *w, const struct fh_trace_step *step)
{
	if (!fh_trace_is_tool(step) || !fh_trace_matches(&w->tool, step))
		return;
	c->matching++;
	if (!step->args)
		return;
	c->with_args++;
	fh_auto_free char *text = fh_json_text(step->args, 0);
	fh_trace_add_item(&c->observed, text);
	if (c->found)
		return;
	fh_auto_buf struct fh_buf ignored = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf usual = FH_BUF_INIT(0);
	fh_auto_buf struct fh_buf unused = FH_BUF_INIT(0);
	fh_auto_json json_t *expected = cleaned(w, w->args, &unused, NULL);
	fh_auto_json json_t *actual = cleaned(w, step->args, &ignored, &usual);
	if (!is_part(actual, expected, w->exact))
		return;
	c->found = step;
	fh_buf_add_str(&c->ignored, fh_buf_str(&ignored));
	fh_buf_add_str(&c->usual, fh_buf_str(&usual));
}

static void tell_forbidden(struct fh_buf *out, const struct calls *c, const struct wanted *w)
{
	fh_auto_free char *args = c->found ? fh_json_text(c->found->args, 0) : NULL;
	fh_buf_addf(out, "Forbidden argument match for tool \"%s\" was ", w->tool.label);
	if (c->found)
		fh_buf_addf(out, "observed on %s:%s. Args: %s", c->found->type, c->found->name, args);
	else if (c->matching == 0)
		fh_buf_adds(out, "not observed because no tool call matched it");
	else
		fh_buf_addf(out, "not observed. Observed args: %s", c->with_args ? fh_buf_cstr(&c->observed) : "(none)");
}

static void tell(struct fh_buf *out, const struct calls *c, const struct wanted *w, const struct fh_trace_steps *steps)
{
	const char *mode = w->exact ? "exact" : "partial";
	fh_auto_free char *args = fh_json_text(c->found ? c->found->args : w->args, 0);
	if (c->found) {
		fh_buf_addf(out, "Tool \"%s\" matched expected arguments (%s) on %s:%s. Args: %s", w->tool.label, mode,
		            c->found->type, c->found->name, args);
		if (c->ignored.n)
			fh_buf_addf(out, ". Ignored argument(s): %s", fh_buf_cstr(&c->ignored));
		if (c->usual.n)
			fh_buf_addf(out, ". Ignored default argument(s): %s", fh_buf_cstr(&c->usual));
		return;
	}
	if (c->with_args) {
		fh_buf_addf(out, "No call to tool \"%s\" matched expected arguments (%s): %s. Observed args: %s", w->tool.label,
		            mode, args, fh_buf_cstr(&c->observed));
		return;
	}
	fh_buf_addf(out,
	            c->matching ? "Tool \"%s\" was observed but no arguments were captured. Actual tools: "
	                        : "No tool call matched \"%s\". Actual tools: ",
	            w->tool.label);
	fh_trace_add_steps(out, steps, "tool", NULL);
}

static int check_args(const struct fh_assertion_call *call, struct fh_grade *ret, struct fh_error *err)
{
	fh_auto_trace_steps struct fh_trace_steps steps = { 0 };
	FH_CLEANUP(wanted_release) struct wanted w = { 0 };
	FH_CLEANUP(calls_release) struct calls c = { 0 };
	fh_auto_buf struct fh_buf reason = FH_BUF_INIT(0);
	const json_t *trace = NULL;
	int r = fh_trace_of(call, &trace, err);
	r = r < 0 ? r : wanted_of(call, &w, err);
	if (r < 0)
		return r;
	fh_trace_steps_of(trace, &steps);
	for (size_t i = 0; i < steps.n; i++)
		look_at(&c, &w, &steps.items[i]);
	if (call->inverse)
		tell_forbidden(&reason, &c, &w);
	else
		tell(&reason, &c, &w, &steps);
	return fh_trace_grade(ret, (c.found != NULL) != call->inverse, &reason);
}

const struct fh_assertion fh_assertion_trajectory_tool_args = { .name = "trajectory:tool-args-match",
	                                                            .check = check_args };
