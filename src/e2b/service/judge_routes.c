/* SPDX-License-Identifier: MIT */
/* POST /judge, which replies with our verdicts, and /submit, which replies in SandboxFusion's form. */
#include "code/extract.h"
#include "e2b/service/judged.h"
#include "e2b/service/routes.h"
#include "e2b/service/service.h"
#include "judge/formats/data_set.h"
#include "judge/problems/languages.h"

/* Finds the problem of a body {"dataset", "id"}, {"problem": ROW} or {"config": {"provided_data": ROW}}, which is
 * SandboxFusion's form of the latter. -FH_E_NOT_FOUND. */
static int find_problem(struct fh_http_request *r, const json_t *body, struct fh_judged_set **ret,
                        const struct fh_judge_problem **ret_problem, struct fh_error *err)
{
	struct fh_e2b *s = fh_http_context(r);
	const json_t *row = json_object_get(body, "problem"), *id = json_object_get(body, "id");
	if (!row)
		row = json_object_get(json_object_get(body, "config"), "provided_data");
	if (json_is_null(row))
		row = NULL;
	const char *name = fh_json_str(body, "dataset", NULL);
	fh_auto_free char *number = json_is_integer(id) ? fh_xasprintf("%lld", (long long)json_integer_value(id)) : NULL;
	const char *task = number ? number : json_string_value(id);
	if (!row && (!name || !task))
		return fh_error_set(err, FH_E_ARGUMENT, "the problem must be named by dataset and id, or be given as problem");
	int result =
	    row ? fh_judged_row(s->judged, fh_e2b_key(r), row, ret, err) : fh_judged_set(s->judged, name, ret, err);
	if (result < 0)
		return result;
	*ret_problem = row ? &(*ret)->problems.items[0] : fh_judge_problem_find(&(*ret)->problems, task);
	if (*ret_problem)
		return 0;
	fh_judged_drop(*ret);
	return fh_error_set(err, FH_E_NOT_FOUND, "data set %.64s has no problem %.64s", name, task);
}

/* Judges a program; appends the text of the program that ran to *program. */
static int judge(struct fh_judged_set *s, const struct fh_judge_problem *problem, struct fh_str code, bool is_whole,
                 struct fh_judge_outcome *ret, const char **ret_doubt, struct fh_buf *program, struct fh_error *err)
{
	size_t at = (size_t)(problem - s->problems.items);
	struct fh_judge_sample sample;
	int r = fh_judged_check(s, at, ret_doubt, err);
	if (r < 0)
		return r;
	fh_judge_sample_make(&s->problems, at, code, is_whole, &sample);
	if (program)
		fh_judge_program(problem, &sample, program);
	r = fh_judge_one(s->session, problem, &sample, ret, err);
	free(sample.completion);
	return r;
}

static json_t *outcome_object(const struct fh_judge_problem *problem, const struct fh_judge_outcome *o,
                              const char *doubt)
{
	json_t *answer = json_object();
	json_object_set_new(answer, "task_id", fh_json_bytes(fh_str(problem->task_id)));
	json_object_set_new(answer, "verdict", json_string(fh_verdict_name(o->verdict)));
	json_object_set_new(answer, "passed", json_boolean(o->verdict == FH_VERDICT_PASSED));
	json_object_set_new(answer, "reason", json_string(o->reason));
	json_object_set_new(answer, "integrity", json_string(o->integrity ? o->integrity : ""));
	json_object_set_new(answer, "self_check", fh_json_bytes(fh_str(doubt)));
	json_object_set_new(answer, "seed", json_string(o->seed));
	if (o->run) {
		const struct fh_usage *u = &o->run->usage;
		json_object_set_new(answer, "cpu_ms", json_real((double)(u->cpu_user_us + u->cpu_sys_us) / 1000));
		json_object_set_new(answer, "wall_ms", json_real((double)u->wall_us / 1000));
		json_object_set_new(answer, "memory_peak_bytes", json_integer((json_int_t)u->memory_peak_bytes));
	}
	return answer;
}

/* POST /judge: takes a continuation of the problem's head ("completion") or a complete program ("solution"). */
static void judge_one(struct fh_http_request *r, const json_t *body)
{
	struct fh_judged_set *s;
	const struct fh_judge_problem *problem;
	struct fh_judge_outcome outcome = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	const char *doubt;
	const json_t *solution = json_object_get(body, "solution"), *text = json_object_get(body, "completion");
	if (json_is_string(solution))
		text = solution;
	if (!json_is_string(text)) {
		fh_e2b_fail(r, 422, "completion (or solution, a whole program) must be a text");
		return;
	}
	if (find_problem(r, body, &s, &problem, &err) < 0) {
		fh_e2b_fail_from(r, &err);
		return;
	}
	const struct fh_str code = { json_string_value(text), json_string_length(text) };
	if (judge(s, problem, code, text == solution, &outcome, &doubt, NULL, &err) < 0)
		fh_e2b_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, outcome_object(problem, &outcome, doubt));
	fh_judge_outcome_release(&outcome);
	fh_judged_drop(s);
}

static json_t *test_object(const struct fh_judge_outcome *o)
{
	json_t *test = json_object(), *info = json_object();
	bool ours = o->verdict == FH_VERDICT_ENGINE_ERROR;
	json_object_set_new(info, "status",
	                    json_string(ours                              ? "SandboxError"
	                                : o->verdict == FH_VERDICT_PASSED ? "Success"
	                                                                  : "Failed"));
	json_object_set_new(info, "message", json_string(o->reason));
	json_object_set_new(info, "compile_result", json_null());
	json_object_set_new(info, "run_result", o->run ? fh_service_command(o->run) : json_null());
	json_object_set_new(info, "executor_pod_name", json_null());
	json_object_set_new(info, "files", json_object());
	json_object_set_new(test, "passed", json_boolean(o->verdict == FH_VERDICT_PASSED));
	json_object_set_new(test, "exec_info", info);
	json_object_set_new(test, "test_info", json_null());
	return test;
}

/* POST /submit: takes a model's complete answer, from which the program is extracted. */
static void submit_one(struct fh_http_request *r, const json_t *body)
{
	struct fh_judged_set *s;
	const struct fh_judge_problem *problem;
	struct fh_judge_outcome outcome = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_extraction struct fh_extraction found = { 0 };
	const char *doubt;
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(FH_JUDGE_PROGRAM_MAX);
	const json_t *text = json_object_get(body, "completion");
	if (!json_is_string(text)) {
		fh_e2b_fail(r, 422, "completion must be a text");
		return;
	}
	if (find_problem(r, body, &s, &problem, &err) < 0) {
		fh_e2b_fail_from(r, &err);
		return;
	}
	const struct fh_extract_options o = { fh_judge_language_name(problem->language),
		                                  *problem->entry_point ? problem->entry_point : NULL };
	fh_extract((struct fh_str){ json_string_value(text), json_string_length(text) }, &o, &found);
	const struct fh_str code = found.code ? (struct fh_str){ found.code, found.size } : (struct fh_str){ "", 0 };
	/* Code that does not define the function is a continuation of the head, which begins it. */
	bool is_whole = found.code && found.defines;
	if (judge(s, problem, code, is_whole, &outcome, &doubt, &program, &err) < 0) {
		fh_e2b_fail_from(r, &err);
	} else {
		json_t *answer = json_object(), *tests = json_array();
		const json_t *id = json_object_get(body, "id");
		json_array_append_new(tests, test_object(&outcome));
		json_object_set_new(answer, "id", id ? json_incref((json_t *)(uintptr_t)id) : json_string(problem->task_id));
		json_object_set_new(answer, "accepted", json_boolean(outcome.verdict == FH_VERDICT_PASSED));
		json_object_set_new(answer, "extracted_code", fh_json_bytes(code));
		json_object_set_new(answer, "full_code", fh_json_bytes(fh_buf_str(&program)));
		json_object_set_new(answer, "test_code", fh_json_bytes(fh_buf_str(&problem->tail)));
		json_object_set_new(answer, "tests", tests);
		json_object_set_new(answer, "extracted_type",
		                    json_string(!found.code    ? "empty"
		                                : found.fenced ? "fenced"
		                                               : "heuristic"));
		json_object_set_new(answer, "extra", outcome_object(problem, &outcome, doubt));
		fh_http_reply_json(r, 200, answer);
	}
	fh_judge_outcome_release(&outcome);
	fh_judged_drop(s);
}

static void with_turn(struct fh_http_request *r, struct fh_str text,
                      void (*answer)(struct fh_http_request *r, const json_t *body))
{
	fh_auto_json json_t *body = fh_service_enter(r, text);
	if (!body)
		return;
	answer(r, body);
	fh_service_leave(r);
}

static void on_judge(struct fh_http_request *r, struct fh_str text)
{
	with_turn(r, text, judge_one);
}

static void on_submit(struct fh_http_request *r, struct fh_str text)
{
	with_turn(r, text, submit_one);
}

const struct fh_http_route fh_e2b_judge_routes[] = {
	{ "POST", "/judge", on_judge, .flags = FH_E2B_KEYLESS },
	{ "POST", "/submit", on_submit, .flags = FH_E2B_KEYLESS },
	{ 0 },
};
