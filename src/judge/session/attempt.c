/* SPDX-License-Identifier: MIT */
#include "judge/session/attempt.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "judge/common/finite.h"
#include "judge/problems/output.h"
#include "judge/session/session_state.h"
#include "sandbox/planning/share.h"
#include "proto/plan.h"
#include "sandbox/planning/language.h"

#define TRIES 2

/* -------------------------------------------------------------------------------------------------- in one process */

static int make_secret(char secret[FH_SECRET_SIZE + 1], struct fh_error *err)
{
	uint8_t random[FH_SECRET_SIZE / 2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return fh_error_sys(err, errno, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(secret + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* Makes the text or texts to run: driver and program and, if the driver does not read the test from stdin, the test. */
static int make_unit(const struct fh_judge_session *s, const struct fh_judge_parts *p, struct fh_judge_unit *u,
                     struct fh_error *err)
{
	const struct fh_judge_in_process *l = fh_judge_languages[p->problem->language]->in_process;
	const struct fh_judge_drivers *d = &s->drivers[p->problem->language];
	if (l->unit)
		return l->unit(u, p, d, err);
	for (size_t i = 0; i < FH_JUDGE_LIBRARIES_MAX; i++)
		fh_buf_add_str(&u->code, fh_buf_str(&d->libraries[i]));
	fh_buf_add_str(&u->code, fh_buf_str(&d->driver));
	if (l->compiled)
		(l->whole ? l->whole : fh_judge_script)(&u->code, p);
	return 0;
}

int fh_attempt_plan(const struct fh_judge_session *s, const struct fh_judge_parts *p, const struct fh_limits *limits,
                    const char *secret, struct fh_plan **ret, struct fh_error *err)
{
	const struct fh_judge_in_process *l = fh_judge_languages[p->problem->language]->in_process;
	fh_auto_buf struct fh_buf input = FH_BUF_INIT(0);
	FH_CLEANUP(fh_judge_unit_release) struct fh_judge_unit unit = { .count = 0 };
	struct fh_request request;
	int r = make_unit(s, p, &unit, err);
	if (r < 0)
		return r;
	fh_request_init(&request);
	if (l->input)
		l->input(&input, p, secret);
	else
		fh_buf_add(&input, secret, FH_SECRET_SIZE);
	request.language = fh_judge_language_name(p->problem->language);
	request.code = (struct fh_bytes){ unit.code.p, unit.code.n };
	request.code_name = l->driver_file;
	request.stdin_data = (struct fh_bytes){ input.p, input.n };
	request.limits = *limits;
	request.flags = fh_session_flags(s, p->problem->language);
	request.hash_secret = fh_judge_hash_secret(p->turn);
	request.interpreter = s->settings->interpreter;
	request.standard_library_only = !s->settings->packages;
	r = fh_plan_build(&request, ret, err);
	for (size_t i = 0; r >= 0 && i < unit.count; i++)
		fh_plan_add_file((*ret)->compile, unit.files[i].name, unit.files[i].text.p, unit.files[i].text.n, 0);
	return r;
}

/* Removes the driver's message from the program's output. */
static void drop_message(struct fh_result *r, const char *secret)
{
	struct fh_driver_message m;
	struct fh_str out = { (const char *)r->stream_data[FH_STDOUT], r->stream_size[FH_STDOUT] };
	if (!out.p || !fh_driver_message_find(out, secret, &m))
		return;
	uint8_t *data = r->stream_data[FH_STDOUT];
	memmove(data + m.at, data + m.end, out.n - m.end + 1);
	r->stream_size[FH_STDOUT] = out.n - (m.end - m.at);
}

/* Gives a compile error the first line of the compiler's output that contains the language's mark. */
static void tell_compile_error(const struct fh_judge_in_process *l, struct fh_judge_outcome *o)
{
	fh_auto_buf struct fh_buf why = FH_BUF_INIT(0);
	struct fh_str said = { (const char *)o->run->stream_data[FH_STDERR], o->run->stream_size[FH_STDERR] };
	if (o->verdict != FH_VERDICT_COMPILE_ERROR || !l->mark || !memmem(said.p, said.n, l->mark, strlen(l->mark)))
		return;
	fh_verdict_add_line(&why, "", fh_verdict_telling_line(said, l->mark));
	free(o->reason);
	o->reason = fh_verdict_finish(&why);
}

/* Runs the sample once in a fresh sandbox. Returns 0 with an outcome, or a negative code for an error that is not the
 * sample's. */
static int run_in_process(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p,
                          const struct fh_limits *limits, struct fh_judge_outcome *ret, struct fh_error *err)
{
	char secret[FH_SECRET_SIZE + 1];
	struct fh_plan *plan = NULL;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	struct fh_result *result = NULL;
	const struct fh_judge_in_process *how = fh_judge_languages[p->problem->language]->in_process;
	if (!how) {
		const char *why = fh_split_unfit(p->problem);
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_ENGINE_ERROR, .integrity = FH_INTEGRITY_IN_PROCESS };
		ret->reason =
		    fh_xasprintf("%s cannot be judged in one process%s%s", fh_judge_language_name(p->problem->language),
		                 why ? ", and has no stand-in: " : "", why ? why : "");
		return 0;
	}
	int r = make_secret(secret, err);
	if (r >= 0)
		r = fh_attempt_plan(s, p, limits, secret, &plan, err);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	if (how->beside)
		r = how->beside(s->split, client, p, plan, err);
	options.cancel = s->settings->cancel;
	if (r >= 0)
		r = fh_run(client, plan, &options, &result, err);
	fh_plan_free(plan);
	if (r < 0)
		return r;
	ret->verdict = fh_verdict_decide(result, secret, &ret->reason);
	drop_message(result, secret);
	ret->run = result;
	ret->integrity = FH_INTEGRITY_IN_PROCESS;
	tell_compile_error(how, ret);
	return 0;
}

/* -------------------------------------------------------------------------------------------- split, or by output */

/* Judges a problem by its program's output, once. */
static int print_once(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p,
                      const struct fh_limits *limits, struct fh_judge_outcome *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	struct fh_judge_settings settings = *s->settings;
	settings.limits = *limits;
	fh_judge_parts_for_output(&program, p);
	return fh_judge_by_output(client, &settings, fh_judge_language_name(p->problem->language), p->problem->output,
	                          fh_buf_str(&program), p->turn, ret, err);
}

/* Judges the problem's reference like the pair. 0: there is none, or the pair's program is the reference. */
static int ask_reference(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p,
                         struct fh_split_outcome *ret, struct fh_error *err)
{
	struct fh_judge_sample sample = fh_judge_problem_reference(p->problem);
	struct fh_judge_parts parts = fh_judge_parts_of(p->problem, &sample);
	struct fh_split_pair reference = *p;
	if (sample.size == 0 || p->completion.p == sample.completion)
		return 0;
	reference.head = parts.head;
	reference.completion = parts.completion;
	int r = fh_split_run(s->split, client, &reference, ret, err);
	return r < 0 ? r : 1;
}

/* Called when a value of the test could not be sent to the candidate. True if the reference meets the same problem:
 * then the test cannot be split. False: the test only passed on a value that it got from this candidate. The reference
 * decides, so that a candidate's values can never change how its task is judged. A task without a reference stays
 * split. */
static int asks_too_much(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p, bool *ret,
                         struct fh_error *err)
{
	struct fh_split_outcome o;
	int r = ask_reference(s, client, p, &o, err);
	if (r < 0)
		return r;
	*ret = r > 0 ? o.unfit : fh_judge_problem_reference(p->problem).size > 0;
	if (r > 0)
		fh_split_outcome_release(&o);
	return 0;
}

/* Fails a program that passed with a NaN or an infinity where the reference passes without one, unless the test is
 * about such numbers: it compared with a tolerance and did not notice. */
static int look_at_numbers(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p,
                           struct fh_judge_outcome *ret, struct fh_error *err)
{
	struct fh_split_outcome o;
	if (fh_not_finite_mentioned(fh_buf_str(&p->problem->tail)))
		return 0;
	int r = ask_reference(s, client, p, &o, err);
	if (r <= 0)
		return r;
	if (o.verdict == FH_VERDICT_PASSED && !o.not_finite) {
		free(ret->reason);
		ret->verdict = FH_VERDICT_FAILED;
		ret->reason = fh_xstrdup("a result is NaN, infinite or no number where the reference's are finite, which "
		                         "the test's comparison accepts");
	}
	fh_split_outcome_release(&o);
	return 0;
}

static int passes(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p, bool *ret,
                  struct fh_error *err)
{
	struct fh_split_outcome o;
	int r = fh_split_run(s->split, client, p, &o, err);
	*ret = r >= 0 && o.verdict == FH_VERDICT_PASSED;
	if (r >= 0)
		fh_split_outcome_release(&o);
	return r;
}

/* As is_spoiled, where the judge's driver itself answers. A test that all of these answers pass does not look at
 * results. */
static int is_spoiled_by_driver(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p,
                                const char *spoilers, bool *ret, struct fh_error *err)
{
	size_t passing = 0, count = strlen(spoilers);
	int r = 0;
	for (size_t i = 0; r >= 0 && i < count; i++) {
		struct fh_split_pair spoiler = *p;
		bool passed = false;
		spoiler.spoiler = spoilers[i];
		r = passes(s, client, &spoiler, &passed, err);
		passing += passed;
	}
	*ret = passing > 0 && passing < count;
	return r;
}

/* Whether the test passes a program that only empties what it is given, because it compares results with that. (One
 * that returns nothing passes where only the arguments are looked at, which is what a function that works in place asks
 * for.) */
static int is_spoiled(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p, bool *ret,
                      struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[p->problem->language];
	const char *const *spoilers = l->spoilers;
	bool passed = false;
	int r = 0;
	*ret = false;
	if (l->split->spoilers)
		return is_spoiled_by_driver(s, client, p, l->split->spoilers, ret, err);
	for (size_t i = 0; r >= 0 && !passed && spoilers && spoilers[i]; i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		const char *name = strstr(spoilers[i], "%s");
		fh_buf_add(&text, spoilers[i], name - spoilers[i]);
		fh_buf_addf(&text, "%s%s", p->problem->entry_point, name + 2);
		struct fh_judge_sample sample = { .completion = text.p, .size = text.n, .is_whole = true };
		struct fh_judge_parts parts = fh_judge_parts_of(p->problem, &sample);
		struct fh_split_pair spoiler = *p;
		spoiler.head = parts.head;
		spoiler.completion = parts.completion;
		r = passes(s, client, &spoiler, &passed, err);
		*ret = passed && i > 0;
	}
	return r;
}

/* Fails a program that passed with changed arguments coming back, and only so: it emptied a list, say, with which the
 * test then compared. The reference tells, if it does without; or else programs that do nothing but that. */
static int look_at_changes(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p,
                           struct fh_judge_outcome *ret, struct fh_error *err)
{
	bool has_reference = fh_judge_problem_reference(p->problem).size > 0, passed = false, cheats = false;
	struct fh_split_pair copies = *p;
	struct fh_split_outcome o;
	copies.changes = false;
	int r = passes(s, client, &copies, &passed, err);
	if (r < 0 || passed)
		return FH_MIN(r, 0);
	if (!has_reference) {
		r = is_spoiled(s, client, p, &cheats, err);
	} else {
		r = ask_reference(s, client, &copies, &o, err);
		cheats = r > 0 && o.verdict == FH_VERDICT_PASSED;
		if (r > 0)
			fh_split_outcome_release(&o);
	}
	if (cheats) {
		free(ret->reason);
		ret->verdict = FH_VERDICT_FAILED;
		ret->reason = fh_xasprintf("it passes only by what it changes in its arguments, %s",
		                           has_reference ? "where the reference changes nothing"
		                                         : "and so does a program that only empties them");
	}
	return FH_MIN(r, 0);
}

static void hands_on(struct fh_judge_outcome *o)
{
	fh_auto_free char *what = o->reason;
	o->verdict = FH_VERDICT_FAILED;
	o->reason = fh_xasprintf("what it gave to the test is handed on and cannot cross again (%s)", what ? what : "");
}

/* Whether such a failure can come of a program being apart from a test that looks at its process. A program that sent
 * what no driver sends gets no second judgement, in which it could reach the test. */
static bool may_be_apart(enum fh_verdict v)
{
	return v == FH_VERDICT_FAILED || v == FH_VERDICT_RUNTIME_ERROR || v == FH_VERDICT_EARLY_EXIT;
}

/* `last`: an unexplained failure is a verdict, not a reason to try again. */
static int run_once(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p,
                    const struct fh_limits *limits, bool last, struct fh_judge_outcome *ret, struct fh_error *err)
{
	enum fh_judge_mode mode = fh_judge_mode(s, p->problem);
	bool usual = memcmp(limits, &s->settings->limits, sizeof(*limits)) == 0;
	char seed[FH_SEED_DIGITS + 1];
	fh_judge_seed_of(s->seed, p->problem->task_id ? p->problem->task_id : "", fh_judge_draw(s, p->problem), seed);
	struct fh_split_pair pair = { .problem = p->problem,
		                          .head = p->head,
		                          .completion = p->completion,
		                          .changes = mode == FH_MODE_SPLIT_CHANGES,
		                          .turn = p->turn,
		                          .seed = seed,
		                          .limits = usual ? NULL : limits };
	struct fh_split_outcome o;
	if (p->problem->output)
		return print_once(s, client, p, limits, ret, err);
	if (mode == FH_MODE_IN_PROCESS)
		return run_in_process(s, client, p, limits, ret, err);
	int r = fh_split_run(s->split, client, &pair, &o, err);
	if (r < 0)
		return r;
	*ret = (struct fh_judge_outcome){
		.verdict = o.verdict, .reason = o.reason, .run = o.candidate, .judge = o.judge, .integrity = FH_INTEGRITY_SPLIT
	};
	if (fh_judge_problem_draws(p->problem))
		snprintf(ret->seed, sizeof(ret->seed), "%s", s->seed);
	if (o.retry && !last)
		ret->verdict = FH_VERDICT_ENGINE_ERROR;
	bool lacks =
	    o.lacks && !fh_judge_problem_reference(p->problem).size; /* else the self-check has seen what it needs */
	if (!o.unfit && (p->problem->may_share_process || lacks) && may_be_apart(ret->verdict)) {
		fh_judge_outcome_release(ret);
		return run_in_process(s, client, p, limits, ret, err);
	}
	if (!o.unfit) {
		r = o.not_finite ? look_at_numbers(s, client, &pair, ret, err) : 0;
		if (r >= 0 && ret->verdict == FH_VERDICT_PASSED && pair.changes && !fh_judge_is_checked(s, p->problem))
			r = look_at_changes(s, client, &pair, ret, err);
		if (r < 0)
			fh_judge_outcome_release(ret);
		return r;
	}
	if (o.unfit_after_answers) {
		bool unfit;
		r = asks_too_much(s, client, &pair, &unfit, err);
		if (r < 0) {
			fh_judge_outcome_release(ret);
			return r;
		}
		if (!unfit) {
			hands_on(ret);
			return 0;
		}
	}
	if (!fh_judge_languages[p->problem->language]->in_process)
		return 0;
	fh_judge_outcome_release(ret);
	fh_judge_set_mode(s, p->problem, FH_MODE_IN_PROCESS);
	return run_in_process(s, client, p, limits, ret, err);
}

/* -------------------------------------------------------------------------------------------------- one judgement */

static bool is_cancelled(const struct fh_judge_session *s)
{
	return s->settings->cancel && *s->settings->cancel;
}

static uint64_t cpu_us(const struct fh_result *r)
{
	return r ? r->usage.cpu_user_us + r->usage.cpu_sys_us : 0;
}

/* Factor for the wall time limit of a program that used as much CPU time as this machine gave it; 1: no change. */
static unsigned wall_factor(const struct fh_judge_outcome *o, const struct fh_limits *limits)
{
	uint64_t computed = FH_MAX(cpu_us(o->run), cpu_us(o->judge));
	if (o->verdict != FH_VERDICT_WALL_TIME_LIMIT || computed / 1000 < limits->value[FH_LIMIT_WALL_TIME] / 100)
		return 1;
	return fh_share_wall_factor(limits, computed, fh_share_measure());
}

/* Adds to the reason which package has the header that the compiler did not find. */
static void name_package(enum fh_judge_language language, struct fh_judge_outcome *o)
{
	fh_auto_language struct fh_language *l = NULL;
	if (o->verdict != FH_VERDICT_COMPILE_ERROR || fh_language_load(fh_judge_language_name(language), &l, NULL) < 0)
		return;
	const char *package = fh_language_missing_package(l, o->reason);
	if (!package)
		return;
	char *told = fh_xasprintf("%s (the package %s has it)", o->reason, package);
	free(o->reason);
	o->reason = told;
}

int fh_attempt(struct fh_judge_session *s, const struct fh_judge_parts *p, struct fh_judge_outcome *ret,
               struct fh_error *err)
{
	struct fh_limits limits = fh_judge_limits(s, p->problem);
	bool scaled = false;
	struct fh_judge_outcome o = { 0 };
	struct fh_error e = FH_ERROR_INIT;
	unsigned broken = 0;
	for (int try = 0; try < TRIES; try++) {
		struct fh_client *client;
		unsigned number;
		fh_judge_outcome_release(&o);
		if (is_cancelled(s))
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		int r = fh_session_client(s, broken, &client, &number, err);
		if (r < 0)
			return r;
		r = run_once(s, client, p, &limits, try == TRIES - 1, &o, &e);
		if (r == -FH_E_CANCELLED)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		unsigned factor = r >= 0 && !scaled ? wall_factor(&o, &limits) : 1;
		if (factor > 1) {
			limits.value[FH_LIMIT_WALL_TIME] *= factor;
			scaled = true;
			try--;
			continue;
		}
		if (r >= 0 && o.verdict != FH_VERDICT_ENGINE_ERROR)
			break;
		if (r < 0) {
			/* a plan fails without an engine; any other error may have broken the connection */
			broken = e.phase == FH_PHASE_PLAN ? 0 : number;
			o.verdict = FH_VERDICT_ENGINE_ERROR;
			free(o.reason);
			o.reason = fh_xasprintf("%s: %s", fh_phase_name(e.phase), e.message);
		}
	}
	if (scaled || fh_judge_time_factor(s, p->problem) > 1) {
		o.raised_cpu_time = limits.value[FH_LIMIT_CPU_TIME];
		o.raised_wall_time = limits.value[FH_LIMIT_WALL_TIME];
	}
	name_package(p->problem->language, &o);
	if (!o.integrity)
		o.integrity = fh_mode_words[fh_judge_mode(s, p->problem)].integrity;
	*ret = o;
	return 0;
}

static bool is_empty(struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(" \t\r\n\f\v", s.p[i]) || s.p[i] == '\0')
			return false;
	return true;
}

int fh_judge_turn(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, unsigned turn, struct fh_judge_outcome *ret,
                  struct fh_error *err)
{
	struct fh_judge_parts parts = fh_judge_parts_of(problem, sample);
	parts.turn = turn;
	if (problem->fault) {
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_ENGINE_ERROR,
			                              .reason = fh_xasprintf("the task cannot be judged: %s", problem->fault),
			                              .integrity = fh_mode_words[fh_judge_mode(s, problem)].integrity };
		return 0;
	}
	if (is_empty(parts.completion)) {
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_NO_CODE,
			                              .reason = fh_xstrdup("the completion is empty"),
			                              .integrity = fh_mode_words[fh_judge_mode(s, problem)].integrity };
		return 0;
	}
	if (problem->head.n + sample->size + problem->tail.n > FH_JUDGE_PROGRAM_MAX) {
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_FAILED,
			                              .reason = fh_xasprintf("the program is larger than %zu MiB",
			                                                     FH_JUDGE_PROGRAM_MAX >> 20),
			                              .integrity = fh_mode_words[fh_judge_mode(s, problem)].integrity };
		return 0;
	}
	return fh_attempt(s, &parts, ret, err);
}

int fh_judge_one(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err)
{
	return fh_judge_turn(s, problem, sample, 0, ret, err);
}
