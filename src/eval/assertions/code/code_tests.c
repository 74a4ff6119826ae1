/* SPDX-License-Identifier: MIT */
#include "eval/assertions/code/code_tests.h"

#include "code/declaration.h"
#include "code/outline.h"
#include "eval/services/services.h"
#include "eval/services/judging.h"
#include "judge/formats/format.h"
#include "judge/problems/languages.h"
#include "judge/session/session.h"

/* The fields as a row of a data set, in the form that judge/formats/format_generic.c reads. */
static json_t *row_of(const struct fh_code_spec *spec)
{
	static const struct {
		const char *field, *key;
	} same[] = { { "tests", "tests" },
		         { "declaration", "prompt" },
		         { "canonical_solution", "code" },
		         { "setup", "prefix" },
		         { "function", "entry_point" } };
	json_t *row = json_object();
	json_object_set_new(row, "language", json_string(spec->language));
	for (size_t i = 0; i < FH_ARRAY_SIZE(same); i++) {
		json_t *value = json_object_get(spec->fields, same[i].field);
		if (value)
			json_object_set(row, same[i].key, value);
	}
	return row;
}

/* HumanEval's tests define check(candidate) and expect the harness to call it. */
static void call_check(struct fh_judge_problem *p)
{
	struct fh_str tail = fh_buf_str(&p->tail), line, rest = tail;
	bool defined = p->language == FH_JUDGE_PYTHON && fh_declares_python(tail, fh_str("check")), called = false;
	while (defined && fh_next_line(&rest, &line))
		called = called || fh_str_begins(line, "check(");
	if (defined && !called)
		fh_buf_addf(&p->tail, "\ncheck(%s)\n", p->entry_point);
}

static int make_problem(const struct fh_code_spec *spec, struct fh_judge_problem *p, struct fh_error *err)
{
	fh_auto_json json_t *row = row_of(spec);
	enum fh_judge_language language = fh_judge_language_of_name(spec->language);
	const struct fh_judge_declared *d =
	    language < FH_JUDGE_LANGUAGE_COUNT_ ? fh_judge_languages[language]->declared : NULL;
	struct fh_error why = FH_ERROR_INIT;
	int r = 0;
	if (d && !d->by_itself && !json_object_get(spec->fields, "declaration"))
		r = fh_judge_wrong(&why, "it is the function's head up to and with its {",
		                   "\"tests\" of %s need \"declaration\"", spec->language);
	if (r >= 0)
		r = fh_judge_problem_of_row(row, p, &why);
	if (r >= 0 && d && json_object_get(spec->fields, "setup"))
		r = fh_judge_wrong(&why, "let \"declaration\" begin with it", "\"setup\" is not for %s", spec->language);
	if (r >= 0 && !p->entry_point[0])
		r = fh_judge_wrong(&why, "give \"function\": the name that the tests call",
		                   "which function of the program do the tests call?");
	if (r < 0)
		return fh_error_set(err, FH_E_CONFIG, "code: %s: %s", why.message,
		                    why.hint); /* results show only the message */
	call_check(p);
	if (spec->reference) /* which is part of the test, and not for a program to see */
		p->may_share_process = false;
	return 0;
}

/* Judges the canonical solution in the mode of the problem, and in one process if it does not pass so, which the
 * problem then has as shares_process: its test looks at what it prints, say, or writes into files. */
static int judge_reference(struct fh_judge_session *session, const struct fh_code_spec *spec,
                           struct fh_judge_problem *p, const struct fh_judge_sample *reference,
                           struct fh_judge_outcome *ret, struct fh_error *err)
{
	struct fh_judge_outcome second = { 0 };
	int r = fh_judge_one(session, p, reference, ret, err);
	if (r < 0 || spec->reference || ret->verdict == FH_VERDICT_PASSED || ret->verdict == FH_VERDICT_ENGINE_ERROR ||
	    !fh_streq(ret->integrity, FH_INTEGRITY_SPLIT))
		return r;
	p->shares_process = true;
	r = fh_judge_one(session, p, reference, &second, err);
	p->shares_process = r >= 0 && second.verdict == FH_VERDICT_PASSED;
	if (p->shares_process) {
		fh_judge_outcome_release(ret);
		*ret = second;
	} else
		fh_judge_outcome_release(&second);
	return r;
}

/* Called when a program failed the tests: an error if the canonical solution fails them too, as then the tests are
 * wrong. */
static int check_reference(struct fh_judge_session *session, const struct fh_code_spec *spec,
                           struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_judge_sample reference = fh_judge_problem_reference(p);
	if (spec->reference)
		reference = (struct fh_judge_sample){ .completion = (char *)(uintptr_t)spec->reference,
			                                  .size = strlen(spec->reference),
			                                  .is_whole = true };
	struct fh_judge_outcome o = { 0 };
	int r = reference.size > 0 ? judge_reference(session, spec, p, &reference, &o, err) : 0;
	if (r >= 0 && reference.size > 0 && o.verdict != FH_VERDICT_PASSED) {
		r = fh_error_set(err, FH_E_CONFIG, "%s: %s: %s",
		                 spec->reference ? "sandbox: \"canonical_solution\" itself does not pass"
		                                 : "code: \"canonical_solution\" does not pass \"tests\"",
		                 fh_verdict_name(o.verdict), o.reason);
		fh_error_hint(err, "one of the two is wrong, so there can be no verdict on answers");
	}
	fh_judge_outcome_release(&o);
	return r;
}

/* Called when a program passed in its own process, where nothing tells whether the test called anything: an error if a
 * program that does nothing passes, too. */
static int check_test(struct fh_judge_session *session, const char *setup, const struct fh_judge_problem *p,
                      struct fh_error *err)
{
	fh_auto_free char *nothing = fh_xasprintf("%s\n%s", setup, fh_judge_languages[p->language]->stub.program);
	const struct fh_judge_sample sample = { .completion = nothing, .size = strlen(nothing), .is_whole = true };
	struct fh_judge_outcome o = { 0 };
	int r = fh_judge_one(session, p, &sample, &o, err);
	if (r >= 0 && o.verdict == FH_VERDICT_PASSED)
		r = fh_error_set(err, FH_E_CONFIG,
		                 "code: \"tests\" pass without a program, so that they test nothing: call what they define");
	fh_judge_outcome_release(&o);
	return r;
}

/* Judges the program, and tells mistakes of the tests by the canonical solution or by a program that does nothing. */
static int judge(struct fh_judge_session *session, const struct fh_code_spec *spec, struct fh_judge_problem *p,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err)
{
	bool shares_process = p->shares_process;
	int r = fh_judge_one(session, p, sample, ret, err);
	if (r < 0)
		return r;
	if (ret->verdict != FH_VERDICT_PASSED)
		r = check_reference(session, spec, p, err);
	if (r >= 0 && p->shares_process != shares_process) {
		fh_judge_outcome_release(ret);
		r = fh_judge_one(session, p, sample, ret, err);
		if (r < 0)
			return r;
	}
	if (r >= 0 && ret->verdict == FH_VERDICT_PASSED && fh_streq(ret->integrity, FH_INTEGRITY_IN_PROCESS))
		r = check_test(session, fh_json_str(spec->fields, "setup", ""), p, err);
	if (r < 0)
		fh_judge_outcome_release(ret);
	return r;
}

int fh_code_tests_run(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_str code,
                      struct fh_client *client, struct fh_judge_outcome *ret, struct fh_error *err)
{
	struct fh_judge_problem problem = { .head = FH_BUF_INIT(0) };
	struct fh_judge_session *session;
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	int r = make_problem(spec, &problem, err);
	if (r >= 0)
		r = fh_judging_session(fh_services_judging(call->services, client), client, &spec->limits, spec->packages,
		                       &session, err);
	if (r >= 0)
		r = fh_judge_session_add_language(session, problem.language, err);
	if (r >= 0) {
		/* Answers hold whole functions: only `setup` is put in front of them, not the declaration. */
		fh_buf_adds(&program, fh_json_str(spec->fields, "setup", ""));
		if (program.n > 0)
			fh_buf_addc(&program, '\n');
		fh_buf_add_str(&program, code);
		const struct fh_judge_sample sample = { .completion = program.p, .size = program.n, .is_whole = true };
		r = judge(session, spec, &problem, &sample, ret, err);
	}
	fh_judge_problem_release(&problem);
	if (r >= 0 && ret->verdict == FH_VERDICT_ENGINE_ERROR) {
		r = fh_error_set(err, FH_E_UNAVAILABLE, "code: no verdict: %s", ret->reason);
		fh_judge_outcome_release(ret);
	}
	return r;
}
