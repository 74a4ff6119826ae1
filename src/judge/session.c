/* SPDX-License-Identifier: MIT */
#include "judge/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/data.h"
#include "base/fd.h"
#include "judge/languages.h"
#include "judge/output.h"
#include "judge/split.h"

#define DRIVER_MAX (1 << 20)
/* How often a session starts an engine anew before it gives up. */
#define ENGINES_MAX 16
#define TRIES 2

/* ---------------------------------------------------------------------------------------------------------- session */

struct fh_judge_session {
	const struct fh_judge_settings *settings;
	const struct fh_judge_problems *problems;
	struct fh_split *split;
	_Atomic(enum fh_judge_mode) *modes; /* of problems, by position */
	atomic_uint *time_factors;          /* likewise; 0: 1 */
	struct fh_buf drivers[FH_JUDGE_LANGUAGE_COUNT_];
	char driver_digests[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX]; /* of what drivers holds; "" where there is none */
	char *versions[FH_JUDGE_LANGUAGE_COUNT_];                     /* NULL: not used */
	char *output_versions[FH_JUDGE_LANGUAGE_COUNT_];              /* likewise, of problems that are judged by output */

	/* An engine that ended is replaced; its client stays until the session is closed, for other threads may be in a
	 * call to it. The last one counts. */
	pthread_mutex_t lock;
	struct fh_client *clients[ENGINES_MAX];
	unsigned engines;
};

void fh_judge_settings_init(struct fh_judge_settings *s)
{
	*s = (struct fh_judge_settings){ 0 };
	fh_limits_init(&s->limits);
	s->limits.value[FH_LIMIT_CPU_TIME] = 5000;
	s->limits.value[FH_LIMIT_WALL_TIME] = 20000;
	s->limits.value[FH_LIMIT_MEMORY] = (uint64_t)1 << 30;
}

void fh_judge_outcome_release(struct fh_judge_outcome *o)
{
	free(o->reason);
	fh_result_free(o->run);
	fh_result_free(o->judge);
	*o = (struct fh_judge_outcome){ 0 };
}

/* The engine to use; a new one when `failed` is the newest (0: the first is wanted). *ret_number goes into the next
 * call's `failed`. */
static int get_client(struct fh_judge_session *s, unsigned failed, struct fh_client **ret, unsigned *ret_number,
                      struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&s->lock);
	if (failed == s->engines) {
		if (s->engines == ENGINES_MAX)
			r = fh_error_set(err, FH_E_UNAVAILABLE, "the engine ended %d times", ENGINES_MAX);
		else
			r = fh_client_open(s->settings->client, &s->clients[s->engines], err);
		if (r >= 0)
			s->engines++;
	}
	if (r >= 0) {
		*ret = s->clients[s->engines - 1];
		*ret_number = s->engines;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

static int make_secret(char secret[FH_SECRET_SIZE + 1], struct fh_error *err)
{
	uint8_t random[FH_SECRET_SIZE / 2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return fh_error_sys(err, errno, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(secret + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static size_t position_of(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = (size_t)(problem - s->problems->items);
	return s->problems->count && problem >= s->problems->items && i < s->problems->count ? i : SIZE_MAX;
}

static const char *const *flags_of(const struct fh_judge_session *s, enum fh_judge_language l)
{
	return s->settings->packages ? fh_judge_languages[l].packages_flags : fh_judge_languages[l].flags;
}

static int build_plan(const struct fh_judge_session *s, const struct fh_judge_parts *p, const char *secret,
                      struct fh_plan **ret, struct fh_error *err)
{
	const struct fh_judge_language_info *l = &fh_judge_languages[p->problem->language];
	fh_auto_buf struct fh_buf input = FH_BUF_INIT(0), code = FH_BUF_INIT(0);
	struct fh_request request;
	fh_request_init(&request);
	fh_buf_add(&code, s->drivers[p->problem->language].p, s->drivers[p->problem->language].n);
	if (l->compiled)
		l->whole(&code, p);
	l->input(&input, p, secret);
	request.language = l->name;
	request.code = (struct fh_bytes){ code.p, code.n };
	request.stdin_data = (struct fh_bytes){ input.p, input.n };
	request.limits = fh_judge_limits(s, p->problem);
	request.flags = flags_of(s, p->problem->language);
	request.interpreter = s->settings->interpreter;
	request.standard_library_only = !s->settings->packages;
	return fh_plan_build(&request, ret, err);
}

/* What the driver said is not part of what the program printed. */
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

/* One try at a problem that is judged by output. */
static int print_once(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p,
                      struct fh_judge_outcome *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	struct fh_judge_settings settings = *s->settings;
	settings.limits = fh_judge_limits(s, p->problem);
	fh_judge_parts_for_output(&program, p);
	return fh_judge_by_output(client, &settings, fh_judge_languages[p->problem->language].name, p->problem->output,
	                          fh_buf_str(&program), ret, err);
}

/* One run in a fresh sandbox. Returns 0 with an outcome, or a negative code for what is no outcome of the sample. */
static int run_in_process(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p,
                          struct fh_judge_outcome *ret, struct fh_error *err)
{
	char secret[FH_SECRET_SIZE + 1];
	struct fh_plan *plan = NULL;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	struct fh_result *result = NULL;
	if (!fh_judge_languages[p->problem->language].driver) {
		const char *why = fh_split_unfit(p->problem);
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_ENGINE_ERROR, .integrity = FH_INTEGRITY_IN_PROCESS };
		ret->reason =
		    fh_xasprintf("%s cannot be judged in one process%s%s", fh_judge_languages[p->problem->language].name,
		                 why ? ", and has no stand-in: " : "", why ? why : "");
		return 0;
	}
	int r = make_secret(secret, err);
	if (r >= 0)
		r = build_plan(s, p, secret, &plan, err);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	options.cancel = s->settings->cancel;
	r = fh_run(client, plan, &options, &result, err);
	fh_plan_free(plan);
	if (r < 0)
		return r;
	ret->verdict = fh_verdict_decide(result, secret, &ret->reason);
	drop_message(result, secret);
	ret->run = result;
	ret->integrity = FH_INTEGRITY_IN_PROCESS;
	return 0;
}

/* A problem of none of the session's, as a probe is: in one process. */
enum fh_judge_mode fh_judge_mode(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = position_of(s, problem);
	return i == SIZE_MAX ? FH_MODE_IN_PROCESS : s->modes[i];
}

void fh_judge_set_mode(struct fh_judge_session *s, const struct fh_judge_problem *problem, enum fh_judge_mode mode)
{
	s->modes[position_of(s, problem)] = mode;
}

unsigned fh_judge_time_factor(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = position_of(s, problem);
	unsigned factor = i == SIZE_MAX ? 1 : s->time_factors[i];
	return factor ? factor : 1;
}

void fh_judge_set_time_factor(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned factor)
{
	s->time_factors[position_of(s, problem)] = factor;
}

struct fh_limits fh_judge_limits(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	static const enum fh_limit times[] = { FH_LIMIT_CPU_TIME, FH_LIMIT_WALL_TIME };
	struct fh_limits limits = s->settings->limits;
	unsigned factor = fh_judge_time_factor(s, problem);
	for (size_t i = 0; i < FH_ARRAY_SIZE(times); i++) {
		uint64_t *value = &limits.value[times[i]];
		*value = *value > FH_UNLIMITED / factor ? FH_UNLIMITED : *value * factor;
	}
	return limits;
}

/* Whether a test cannot be split, or only hands on what this candidate gave it. The reference tells: a word of a
 * candidate's never changes how its task is judged. A task without one is judged as it stands. */
static int asks_too_much(struct fh_judge_session *s, struct fh_client *client, const struct fh_split_pair *p, bool *ret,
                         struct fh_error *err)
{
	struct fh_judge_sample sample = fh_judge_problem_reference(p->problem);
	struct fh_judge_parts parts = fh_judge_parts_of(p->problem, &sample);
	struct fh_split_pair reference = *p;
	struct fh_split_outcome o;
	if (sample.size == 0 || p->completion.p == sample.completion) {
		*ret = sample.size > 0;
		return 0;
	}
	reference.head = parts.head;
	reference.completion = parts.completion;
	int r = fh_split_run(s->split, client, &reference, &o, err);
	if (r < 0)
		return r;
	*ret = o.unfit;
	fh_split_outcome_release(&o);
	return 0;
}

static void hands_on(struct fh_judge_outcome *o)
{
	fh_auto_free char *what = o->reason;
	o->verdict = FH_VERDICT_FAILED;
	o->reason = fh_xasprintf("what it gave to the test is handed on and cannot cross again (%s)", what ? what : "");
}

/* `last`: what nobody explains is not tried again. */
static int run_once(struct fh_judge_session *s, struct fh_client *client, const struct fh_judge_parts *p, bool last,
                    struct fh_judge_outcome *ret, struct fh_error *err)
{
	enum fh_judge_mode mode = fh_judge_mode(s, p->problem);
	struct fh_limits limits = fh_judge_limits(s, p->problem);
	struct fh_split_pair pair = { .problem = p->problem,
		                          .head = p->head,
		                          .completion = p->completion,
		                          .changes = mode == FH_MODE_SPLIT_CHANGES,
		                          .limits = fh_judge_time_factor(s, p->problem) > 1 ? &limits : NULL };
	struct fh_split_outcome o;
	if (p->problem->output)
		return print_once(s, client, p, ret, err);
	if (mode == FH_MODE_IN_PROCESS)
		return run_in_process(s, client, p, ret, err);
	int r = fh_split_run(s->split, client, &pair, &o, err);
	if (r < 0)
		return r;
	*ret = (struct fh_judge_outcome){
		.verdict = o.verdict, .reason = o.reason, .run = o.candidate, .judge = o.judge, .integrity = FH_INTEGRITY_SPLIT
	};
	if (o.retry && !last)
		ret->verdict = FH_VERDICT_ENGINE_ERROR;
	if (!o.unfit)
		return 0;
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
	if (!fh_judge_languages[p->problem->language].driver)
		return 0;
	fh_judge_outcome_release(ret);
	fh_judge_set_mode(s, p->problem, FH_MODE_IN_PROCESS);
	return run_in_process(s, client, p, ret, err);
}

static bool is_cancelled(const struct fh_judge_session *s)
{
	return s->settings->cancel && *s->settings->cancel;
}

static const struct {
	const char *integrity, *key;
} modes[] = {
	[FH_MODE_SPLIT] = { FH_INTEGRITY_SPLIT, "split" },
	[FH_MODE_SPLIT_CHANGES] = { FH_INTEGRITY_SPLIT, "split, arguments come back" },
	[FH_MODE_IN_PROCESS] = { FH_INTEGRITY_IN_PROCESS, "in-process" },
	[FH_MODE_OUTSIDE] = { FH_INTEGRITY_OUTSIDE, "outside" },
};

static int judge_parts(struct fh_judge_session *s, const struct fh_judge_parts *p, struct fh_judge_outcome *ret,
                       struct fh_error *err)
{
	struct fh_judge_outcome o = { 0 };
	struct fh_error e = FH_ERROR_INIT;
	unsigned broken = 0;
	for (int try = 0; try < TRIES; try++) {
		struct fh_client *client;
		unsigned number;
		fh_judge_outcome_release(&o);
		if (is_cancelled(s))
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		int r = get_client(s, broken, &client, &number, err);
		if (r < 0)
			return r;
		r = run_once(s, client, p, try == TRIES - 1, &o, &e);
		if (r == -FH_E_CANCELLED)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		if (r >= 0 && o.verdict != FH_VERDICT_ENGINE_ERROR)
			break;
		if (r < 0) {
			/* The plan fails without an engine; anything else may have broken the connection for good. */
			broken = e.phase == FH_PHASE_PLAN ? 0 : number;
			o.verdict = FH_VERDICT_ENGINE_ERROR;
			free(o.reason);
			o.reason = fh_xasprintf("%s: %s", fh_phase_name(e.phase), e.message);
		}
	}
	if (fh_judge_time_factor(s, p->problem) > 1) {
		struct fh_limits limits = fh_judge_limits(s, p->problem);
		o.raised_cpu_time = limits.value[FH_LIMIT_CPU_TIME];
		o.raised_wall_time = limits.value[FH_LIMIT_WALL_TIME];
	}
	if (!o.integrity)
		o.integrity = modes[fh_judge_mode(s, p->problem)].integrity;
	*ret = o;
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- the stubs */

static bool is_empty(struct fh_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(" \t\r\n\f\v", s.p[i]) || s.p[i] == '\0')
			return false;
	return true;
}

static int read_driver(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	int r = fh_data_path(fh_judge_languages[language].driver, &path, err);
	if (r < 0)
		return r;
	s->drivers[language] = (struct fh_buf)FH_BUF_INIT(DRIVER_MAX);
	r = fh_file_read(path, &s->drivers[language], err);
	if (r < 0)
		return r;
	struct fh_sha256 h = FH_SHA256_INIT;
	fh_sha256_add_field(&h, fh_buf_str(&s->drivers[language]));
	fh_sha256_hex(&h, s->driver_digests[language]);
	return 0;
}

static int probe_failed(const struct fh_judge_language_info *l, const struct fh_judge_outcome *o, struct fh_error *err)
{
	fh_error_set(err, FH_E_UNAVAILABLE, "cannot judge %s on this machine: a program that is right gets %s%s%.300s",
	             l->name, fh_verdict_name(o->verdict), o->reason[0] ? ": " : "", o->reason);
	if (o->run && o->run->error.hint[0])
		fh_error_hint(err, "%s", o->run->error.hint);
	else
		fh_error_hint(err, "fumehood run -l %s -c … shows whether %s runs in a sandbox here", l->name, l->name);
	return -FH_E_UNAVAILABLE;
}

/* Judges a program that is right; its output is the version. */
static int probe(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = &fh_judge_languages[language];
	struct fh_judge_problem problem = { .language = language, .head = FH_BUF_INIT(0), .tail = FH_BUF_INIT(0) };
	struct fh_judge_parts parts = { &problem, { "", 0 }, fh_str(l->probe) };
	struct fh_judge_outcome o = { 0 };
	struct fh_plan *plan = NULL;
	char secret[FH_SECRET_SIZE + 1] = "";
	fh_buf_adds(&problem.tail, l->probe_test);
	/* A missing interpreter or compiler is an error of the plan, with a hint that a verdict could not carry. */
	int r = build_plan(s, &parts, secret, &plan, err);
	fh_plan_free(plan);
	if (r >= 0)
		r = judge_parts(s, &parts, &o, err);
	fh_buf_release(&problem.tail);
	if (r < 0)
		return r;
	if (o.verdict != FH_VERDICT_PASSED) {
		r = probe_failed(l, &o, err);
	} else {
		size_t n = o.run->stream_size[FH_STDOUT];
		s->versions[language] = fh_xstrndup((const char *)o.run->stream_data[FH_STDOUT], FH_MIN(n, 1024));
	}
	fh_judge_outcome_release(&o);
	return r;
}

/* The same for problems that are judged by output: the program that prints the version is right in any case. */
static int probe_output(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = &fh_judge_languages[language];
	struct fh_output_case any = { FH_BUF_INIT(0), FH_BUF_INIT(0), 0 };
	struct fh_judge_output output = { .checker = NULL, .cases = &any, .count = 1 };
	struct fh_judge_outcome o = { 0 };
	struct fh_client *client;
	unsigned number;
	int r = get_client(s, 0, &client, &number, err);
	if (r >= 0)
		r = fh_judge_by_output(client, s->settings, l->name, &output, fh_str(l->version), &o, err);
	if (r < 0)
		return r;
	size_t n = o.run ? o.run->stream_size[FH_STDOUT] : 0;
	if (n == 0 || o.run->status != FH_STATUS_OK)
		r = probe_failed(l, &o, err);
	else
		s->output_versions[language] = fh_xstrndup((const char *)o.run->stream_data[FH_STDOUT], FH_MIN(n, 1024));
	fh_judge_outcome_release(&o);
	return r;
}

/* The same in two sandboxes, which also has the zygotes made that the samples will start from. */
static int probe_split(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = &fh_judge_languages[language];
	struct fh_judge_problem problem = { .language = language, .head = FH_BUF_INIT(0), .tail = FH_BUF_INIT(0) };
	fh_auto_free char *name = fh_xstrdup(l->split_probe_name);
	struct fh_split_pair pair = { .problem = &problem, .completion = fh_str(l->split_probe), .wait = true };
	struct fh_split_outcome o = { 0 };
	struct fh_client *client;
	unsigned number;
	problem.entry_point = name;
	fh_buf_adds(&problem.tail, l->split_probe_test);
	int r = get_client(s, 0, &client, &number, err);
	if (r >= 0)
		r = fh_split_run(s->split, client, &pair, &o, err);
	fh_buf_release(&problem.tail);
	if (r < 0)
		return r;
	struct fh_judge_outcome told = { .verdict = o.verdict, .reason = o.reason };
	if (o.verdict != FH_VERDICT_PASSED)
		r = probe_failed(l, &told, err);
	else
		s->versions[language] = fh_xstrndup((const char *)o.candidate->stream_data[FH_STDOUT],
		                                    FH_MIN(o.candidate->stream_size[FH_STDOUT], (size_t)1024));
	fh_split_outcome_release(&o);
	return r;
}

/* Whether some of the problems that are to be judged in a language are split. */
static bool splits(const struct fh_judge_session *s, const struct fh_judge_samples *samples,
                   enum fh_judge_language language)
{
	for (size_t i = 0; i < samples->count; i++) {
		size_t at = samples->items[i].problem;
		if (s->problems->items[at].language == language && s->modes[at] == FH_MODE_SPLIT)
			return true;
	}
	return false;
}

/* Reads and tries what judging tests of a language takes. */
static int open_language(struct fh_judge_session *s, const struct fh_judge_samples *samples,
                         enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = &fh_judge_languages[language];
	int r = l->driver ? read_driver(s, language, err) : 0;
	if (r >= 0 && fh_split_has(language))
		r = fh_split_prepare(s->split, language, err);
	if (r < 0)
		return r;
	if (!l->driver)
		return probe_output(s, language, err);
	return (l->split_probe && splits(s, samples, language) ? probe_split : probe)(s, language, err);
}

int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err)
{
	struct fh_judge_session *s = FH_NEW(struct fh_judge_session);
	bool wanted[FH_JUDGE_LANGUAGE_COUNT_] = { false }, by_output[FH_JUDGE_LANGUAGE_COUNT_] = { false };
	unsigned count = 0;
	int r = 0;
	s->settings = settings;
	s->problems = problems;
	s->modes = fh_xcalloc(problems->count, sizeof(*s->modes));
	s->time_factors = fh_xcalloc(problems->count, sizeof(*s->time_factors));
	for (size_t i = 0; i < problems->count; i++)
		s->modes[i] = problems->items[i].output             ? FH_MODE_OUTSIDE
		              : fh_split_unfit(&problems->items[i]) ? FH_MODE_IN_PROCESS
		                                                    : FH_MODE_SPLIT;
	pthread_mutex_init(&s->lock, NULL);
	r = fh_split_new(settings, &s->split, err);
	for (size_t i = 0; i < samples->count; i++) {
		const struct fh_judge_problem *p = &problems->items[samples->items[i].problem];
		count += !wanted[p->language] && !by_output[p->language];
		*(p->output ? &by_output[p->language] : &wanted[p->language]) = true;
	}
	if (r >= 0 && settings->interpreter && count > 1)
		r = fh_error_set(err, FH_E_ARGUMENT, "--interpreter needs samples of one language; these are of %u", count);
	for (enum fh_judge_language l = 0; r >= 0 && l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		if (wanted[l])
			r = open_language(s, samples, l, err);
		if (r >= 0 && by_output[l] && !s->output_versions[l])
			r = probe_output(s, l, err);
	}
	if (r < 0) {
		fh_judge_session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void fh_judge_session_close(struct fh_judge_session *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->engines; i++)
		fh_client_close(s->clients[i]);
	fh_split_free(s->split);
	free(s->modes);
	free(s->time_factors);
	for (int l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		fh_buf_release(&s->drivers[l]);
		free(s->versions[l]);
		free(s->output_versions[l]);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const char *fh_judge_tool_version(const struct fh_judge_session *s, enum fh_judge_language l)
{
	return s->versions[l] ? s->versions[l] : s->output_versions[l];
}

/* ------------------------------------------------------------------------------------------------------- one sample */

void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX])
{
	struct fh_sha256 h = FH_SHA256_INIT;
	enum fh_judge_language l = problem->language;
	enum fh_judge_mode mode = fh_judge_mode(s, problem);
	const char *const words[] = {
		"fumehood judge",
		fh_version(),
		modes[mode].key,
		s->settings->packages ? "packages" : "standard library",
		s->settings->interpreter ? s->settings->interpreter : "",
		fh_judge_languages[l].name,
		problem->output || !fh_judge_languages[l].driver ? s->output_versions[l] : s->versions[l],
		problem->task_id,
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		fh_sha256_add_field(&h, fh_str(words[i]));
	for (const char *const *flag = flags_of(s, l); flag && *flag; flag++)
		fh_sha256_add_field(&h, fh_str(*flag));
	struct fh_limits limits = fh_judge_limits(s, problem);
	for (int i = 0; i < FH_LIMIT_COUNT_; i++) {
		char number[32];
		snprintf(number, sizeof(number), "%llu", (unsigned long long)limits.value[i]);
		fh_sha256_add_field(&h, fh_str(number));
	}
	bool split = mode == FH_MODE_SPLIT || mode == FH_MODE_SPLIT_CHANGES;
	if (problem->output)
		fh_judge_output_hash(problem->output, &h);
	fh_sha256_add_field(&h, fh_str(split ? fh_split_digest(s->split, l) : s->driver_digests[l]));
	if (s->settings->repeat > 1) {
		char number[32];
		snprintf(number, sizeof(number), "repeat %u", s->settings->repeat);
		fh_sha256_add_field(&h, fh_str(number));
	}
	fh_sha256_add_field(&h, fh_judge_parts_of(problem, sample).head);
	fh_sha256_add_field(&h, fh_buf_str(&problem->tail));
	fh_sha256_add_field(&h, (struct fh_str){ sample->completion, sample->size });
	fh_sha256_hex(&h, ret_hex);
}

int fh_judge_one(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err)
{
	struct fh_judge_parts parts = fh_judge_parts_of(problem, sample);
	if (is_empty(parts.completion)) {
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_NO_CODE,
			                              .reason = fh_xstrdup("the completion is empty"),
			                              .integrity = modes[fh_judge_mode(s, problem)].integrity };
		return 0;
	}
	if (problem->head.n + sample->size + problem->tail.n > FH_JUDGE_PROGRAM_MAX) {
		*ret = (struct fh_judge_outcome){ .verdict = FH_VERDICT_FAILED,
			                              .reason = fh_xasprintf("the program is larger than %zu MiB",
			                                                     FH_JUDGE_PROGRAM_MAX >> 20),
			                              .integrity = modes[fh_judge_mode(s, problem)].integrity };
		return 0;
	}
	return judge_parts(s, &parts, ret, err);
}
