/* SPDX-License-Identifier: MIT */
/* The playground: runs one program in a sandbox of its own, and compares its output with the expected one. */
#include <math.h>
#include <stdatomic.h>

#include "judge/comparing/compare.h"
#include "sandbox/planning/language.h"
#include "view/reply.h"
#include "view/routes.h"
#include "view/state.h"

enum { AT_ONCE_MAX = 4, TIME_MAX_MS = 120 * 1000 };
#define MEMORY_MAX ((uint64_t)4 << 30)

/* Limits that the page may set, in the units of fh_limit_table, with their maximum. */
static const struct {
	enum fh_limit limit;
	uint64_t max;
} settable[] = {
	{ FH_LIMIT_CPU_TIME, TIME_MAX_MS }, { FH_LIMIT_WALL_TIME, TIME_MAX_MS },    { FH_LIMIT_MEMORY, MEMORY_MAX },
	{ FH_LIMIT_PROCESSES, 1024 },       { FH_LIMIT_OUTPUT, (uint64_t)8 << 20 },
};

static atomic_int running;

static void get_languages(struct fh_http_request *r, struct fh_str body)
{
	struct fh_language **all = NULL;
	size_t count = 0;
	struct fh_error err = FH_ERROR_INIT;
	json_t *names = json_array(), *limits = json_object();
	if (fh_language_all(&all, &count, &err) < 0) {
		json_decref(names);
		json_decref(limits);
		fh_view_fail_from(r, &err);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		json_array_append_new(names, json_string(all[i]->name));
		fh_language_free(all[i]);
	}
	free(all);
	for (size_t i = 0; i < FH_ARRAY_SIZE(settable); i++) {
		const struct fh_limit_info *l = &fh_limit_table[settable[i].limit];
		json_object_set_new(limits, l->name,
		                    json_pack("{s:I, s:I, s:I, s:s}", "value", (json_int_t)l->run_default, "min",
		                              (json_int_t)l->minimum, "max", (json_int_t)settable[i].max, "unit", l->unit));
	}
	fh_http_reply_json(r, 200, json_pack("{s:o, s:o}", "languages", names, "limits", limits));
}

static int read_limits(const json_t *given, struct fh_limits *ret, struct fh_error *err)
{
	fh_limits_init(ret);
	for (size_t i = 0; i < FH_ARRAY_SIZE(settable); i++) {
		const struct fh_limit_info *l = &fh_limit_table[settable[i].limit];
		double value = fh_json_num(given, l->name, (double)l->run_default);
		if (!isfinite(value) || value < (double)l->minimum || value > (double)settable[i].max)
			return fh_error_set(err, FH_E_ARGUMENT, "limits.%s must be from %llu to %llu %s", l->name,
			                    (unsigned long long)l->minimum, (unsigned long long)settable[i].max, l->unit);
		ret->value[settable[i].limit] = (uint64_t)value;
	}
	return 0;
}

static int run(const struct fh_request *request, struct fh_result **ret, struct fh_error *err)
{
	struct fh_plan *plan = NULL;
	struct fh_client *client = NULL;
	int r = fh_plan_build(request, &plan, err);
	if (r == 0)
		r = fh_client_open(NULL, &client, err);
	if (r == 0)
		r = fh_run(client, plan, NULL, ret, err);
	fh_client_close(client);
	fh_plan_free(plan);
	return r;
}

/* Compares the output with the expected one by a rule of judge/comparing/compare.h. */
static json_t *verdict_json(const struct fh_result *result, const json_t *expected, enum fh_compare rule)
{
	struct fh_str want = { json_string_value(expected), json_string_length(expected) };
	struct fh_str got = { (const char *)result->stream_data[FH_STDOUT], result->stream_size[FH_STDOUT] };
	bool whole = !result->stream_truncated[FH_STDOUT] && result->status == FH_STATUS_OK;
	return json_pack("{s:b, s:s}", "passed", whole && fh_compare_output(rule, got, want, 1e-6), "rule",
	                 fh_compare_name(rule));
}

static void reply(struct fh_http_request *r, const struct fh_result *result, const json_t *expected,
                  enum fh_compare rule)
{
	fh_auto_free char *text = fh_result_json(result, 0);
	json_t *o = json_object(), *run_json = fh_json_parse(fh_str(text), NULL, NULL);
	json_object_set_new(o, "run", run_json ? run_json : json_null());
	if (json_is_string(expected))
		json_object_set_new(o, "verdict", verdict_json(result, expected, rule));
	fh_http_reply_json(r, 200, o);
}

/* The request's body is {language, code, stdin?, expected?, rule?, limits?}. */
static void post_play(struct fh_http_request *r, struct fh_str body)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_request request;
	struct fh_result *result = NULL;
	fh_auto_json json_t *given = fh_json_parse(body, "the request", &err);
	const json_t *code = json_object_get(given, "code"), *input = json_object_get(given, "stdin");
	enum fh_compare rule = fh_compare_of_name(fh_json_str(given, "rule", "trimmed"));
	fh_request_init(&request);
	request.language = fh_json_str(given, "language", NULL);
	if (!request.language || !json_is_string(code) || rule == FH_COMPARE_COUNT_) {
		fh_view_fail(r, 400,
		             "the body must be {\"language\": …, \"code\": …}, and \"rule\" one of trimmed, exact, "
		             "tokens, numbers, unordered");
		return;
	}
	request.code = (struct fh_bytes){ json_string_value(code), json_string_length(code) };
	request.stdin_data =
	    (struct fh_bytes){ json_is_string(input) ? json_string_value(input) : "", json_string_length(input) };
	if (read_limits(json_object_get(given, "limits"), &request.limits, &err) < 0) {
		fh_view_fail_from(r, &err);
		return;
	}
	if (atomic_fetch_add(&running, 1) >= AT_ONCE_MAX)
		fh_view_fail(r, 429, "%d programs are running already", AT_ONCE_MAX);
	else if (run(&request, &result, &err) < 0)
		fh_view_fail_from(r, &err);
	else
		reply(r, result, json_object_get(given, "expected"), rule);
	atomic_fetch_sub(&running, 1);
	fh_result_free(result);
}

const struct fh_http_route fh_view_play_routes[] = {
	{ "GET", "/api/view/languages", get_languages },
	{ "POST", "/api/view/play", post_play },
	{ 0 },
};
