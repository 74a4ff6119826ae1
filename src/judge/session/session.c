/* SPDX-License-Identifier: MIT */
#include "judge/session/session.h"

#include <stdio.h>

#include "base/host/data.h"
#include "base/fd.h"
#include "judge/session/attempt.h"
#include "judge/problems/output.h"
#include "judge/session/inputs.h"
#include "judge/session/session_state.h"
#include "proto/plan.h"
#include "sandbox/planning/language.h"

/* ---------------------------------------------------------------------------------------------------------- session */

const struct fh_mode_words fh_mode_words[] = {
	[FH_MODE_SPLIT] = { FH_INTEGRITY_SPLIT, "split" },
	[FH_MODE_SPLIT_CHANGES] = { FH_INTEGRITY_SPLIT, "split, arguments come back" },
	[FH_MODE_IN_PROCESS] = { FH_INTEGRITY_IN_PROCESS, "in-process" },
	[FH_MODE_OUTSIDE] = { FH_INTEGRITY_OUTSIDE, "outside" },
};

int fh_session_client(struct fh_judge_session *s, unsigned failed, struct fh_client **ret, unsigned *ret_number,
                      struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&s->lock);
	if (failed == s->engines) {
		if (s->engines == FH_JUDGE_ENGINES_MAX || (s->settings->shared_client && s->engines > 0))
			r = fh_error_set(err, FH_E_UNAVAILABLE, "the engine ended %u times", s->engines);
		else if (s->settings->shared_client)
			s->clients[0] = s->settings->shared_client;
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

static size_t position_of(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = (size_t)(problem - s->problems->items);
	return s->problems->count && problem >= s->problems->items && i < s->problems->count ? i : SIZE_MAX;
}

const char *const *fh_session_flags(const struct fh_judge_session *s, enum fh_judge_language l)
{
	const struct fh_judge_in_process *how = fh_judge_languages[l]->in_process;
	if (!how)
		return NULL;
	return s->settings->packages ? how->packages_flags : how->flags;
}

bool fh_judge_is_checked(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = position_of(s, problem);
	return i < SIZE_MAX && s->checked[i];
}

void fh_judge_set_checked(struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	s->checked[position_of(s, problem)] = true;
}

/* The mode until a self-check finds another. A probe names no function, so it is judged in one process. */
static enum fh_judge_mode first_mode(const struct fh_judge_problem *p)
{
	if (p->output)
		return FH_MODE_OUTSIDE;
	if (fh_split_unfit(p))
		return FH_MODE_IN_PROCESS;
	const struct fh_split_language *split = fh_judge_languages[p->language]->split;
	bool changes = split->changes ? split->changes(p) : fh_judge_problem_reference(p).size == 0;
	return changes ? FH_MODE_SPLIT_CHANGES : FH_MODE_SPLIT;
}

enum fh_judge_mode fh_judge_mode(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = position_of(s, problem);
	if (i < SIZE_MAX)
		return s->modes[i];
	return problem->output ? FH_MODE_OUTSIDE : fh_split_unfit(problem) ? FH_MODE_IN_PROCESS : FH_MODE_SPLIT_CHANGES;
}

void fh_judge_set_mode(struct fh_judge_session *s, const struct fh_judge_problem *problem, enum fh_judge_mode mode)
{
	size_t i = position_of(s, problem);
	if (i < SIZE_MAX)
		s->modes[i] = mode;
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

unsigned fh_judge_draw(const struct fh_judge_session *s, const struct fh_judge_problem *problem)
{
	size_t i = position_of(s, problem);
	return i == SIZE_MAX ? 0 : s->draws[i];
}

void fh_judge_set_draw(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned draw)
{
	s->draws[position_of(s, problem)] = draw;
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

/* ----------------------------------------------------------------------------------------------------------- tools */

static int read_data(const char *name, struct fh_buf *to, struct fh_sha256 *h, struct fh_error *err)
{
	fh_auto_free char *path = NULL;
	int r = fh_data_path(name, &path, err);
	if (r < 0)
		return r;
	fh_buf_release(to);
	*to = (struct fh_buf)FH_BUF_INIT(FH_JUDGE_GUEST_MAX);
	r = fh_file_read(path, to, err);
	if (r >= 0)
		fh_sha256_add_field(h, fh_buf_str(to));
	return r;
}

static int read_guest(enum fh_judge_language language, const char *file, struct fh_buf *to, struct fh_sha256 *h,
                      struct fh_error *err)
{
	fh_auto_free char *name = fh_xasprintf("guest/%s/%s", fh_judge_language_name(language), file);
	return read_data(name, to, h, err);
}

static int read_drivers(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_in_process *how = fh_judge_languages[language]->in_process;
	struct fh_judge_drivers *d = &s->drivers[language];
	struct fh_sha256 h = FH_SHA256_INIT;
	int r = read_guest(language, how->driver, &d->driver, &h, err);
	for (size_t i = 0; r >= 0 && i < FH_JUDGE_LIBRARIES_MAX; i++)
		r = how->libraries[i] ? read_guest(language, how->libraries[i], &d->libraries[i], &h, err) : 0;
	if (r >= 0)
		fh_sha256_hex(&h, s->driver_digests[language]);
	return r;
}

/* Reads how the language's programs are compiled and started. */
static int read_language(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	fh_auto_free char *name = fh_xasprintf("languages/%s.json", fh_judge_language_name(language));
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_auto_language struct fh_language *l = NULL;
	struct fh_sha256 h = FH_SHA256_INIT;
	int r = read_data(name, &text, &h, err);
	if (r >= 0)
		r = fh_language_load(fh_judge_language_name(language), &l, err);
	if (r < 0)
		return r;
	const char *const scripts[] = { l->script, l->prepare_script };
	for (size_t i = 0; i < FH_ARRAY_SIZE(scripts); i++)
		if (scripts[i])
			fh_sha256_add_field(&h, fh_str(scripts[i]));
	fh_sha256_hex(&h, s->language_digests[language]);
	return 0;
}

static int probe_failed(const struct fh_judge_language_info *l, const struct fh_judge_outcome *o, struct fh_error *err)
{
	fh_error_set(err, FH_E_UNAVAILABLE, "cannot judge %s on this machine: a correct program gets %s%s%.300s", l->name,
	             fh_verdict_name(o->verdict), o->reason[0] ? ": " : "", o->reason);
	if (o->run && o->run->error.hint[0])
		fh_error_hint(err, "%s", o->run->error.hint);
	else
		fh_error_hint(err, "fumehood run -l %s -c … shows whether %s runs in a sandbox here", l->name, l->name);
	return -FH_E_UNAVAILABLE;
}

/* Appends the compiler's own version text to *version, from a sandbox like the one in which it compiles; for languages
 * whose programs cannot print it. */
static int add_tool_version(struct fh_judge_session *s, enum fh_judge_language language, char **version,
                            struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[language];
	struct fh_request request;
	struct fh_plan *plan = NULL;
	struct fh_result *result = NULL;
	struct fh_client *client;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	unsigned number;
	if (!l->version_argument)
		return 0;
	fh_request_init(&request);
	request.language = l->name;
	request.code = (struct fh_bytes){ l->version, strlen(l->version) };
	request.limits = s->settings->limits;
	request.interpreter = s->settings->interpreter;
	request.standard_library_only = !s->settings->packages;
	options.cancel = s->settings->cancel;
	int r = fh_plan_build(&request, &plan, err);
	if (r < 0)
		return r;
	char **argv = plan->compile->argv; /* begins with {tool} */
	fh_plan_set_text(&argv[1], l->version_argument);
	for (size_t i = 2; argv[i]; i++) {
		free(argv[i]);
		argv[i] = NULL;
	}
	r = fh_session_client(s, 0, &client, &number, err);
	if (r >= 0)
		r = fh_run(client, plan->compile, &options, &result, err);
	fh_plan_free(plan);
	if (r < 0)
		return r;
	if (result->status != FH_STATUS_OK || result->stream_size[FH_STDOUT] == 0)
		r = fh_error_set(err, FH_E_UNAVAILABLE, "the compiler of %s does not tell its version: %s", l->name,
		                 fh_status_name(result->status));
	else {
		char *told = fh_xasprintf("%s%.*s", *version, (int)FH_MIN(result->stream_size[FH_STDOUT], (size_t)1024),
		                          (const char *)result->stream_data[FH_STDOUT]);
		free(*version);
		*version = told;
	}
	fh_result_free(result);
	return r;
}

/* Judges a correct program, whose output is the tool's version. */
static int probe(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[language];
	struct fh_judge_problem problem = { .language = language, .head = FH_BUF_INIT(0), .tail = FH_BUF_INIT(0) };
	struct fh_judge_parts parts = { &problem, { "", 0 }, fh_str(l->in_process->probe) };
	struct fh_judge_outcome o = { 0 };
	struct fh_plan *plan = NULL;
	char secret[FH_SECRET_SIZE + 1] = "";
	fh_buf_adds(&problem.tail, l->in_process->probe_test);
	/* A missing interpreter or compiler is an error of the plan, with a hint that a verdict could not have. */
	struct fh_limits limits = fh_judge_limits(s, &problem);
	int r = fh_attempt_plan(s, &parts, &limits, secret, &plan, err);
	fh_plan_free(plan);
	if (r >= 0)
		r = fh_attempt(s, &parts, &o, err);
	fh_buf_release(&problem.tail);
	if (r < 0)
		return r;
	if (o.verdict != FH_VERDICT_PASSED) {
		r = probe_failed(l, &o, err);
	} else {
		size_t n = o.run->stream_size[FH_STDOUT];
		s->versions[language] = fh_xstrndup((const char *)o.run->stream_data[FH_STDOUT], FH_MIN(n, 1024));
		r = add_tool_version(s, language, &s->versions[language], err);
	}
	fh_judge_outcome_release(&o);
	return r;
}

/* The same for problems judged by output: any output of the program that prints the version is correct. */
static int probe_output(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[language];
	struct fh_output_case any = { FH_BUF_INIT(0), FH_BUF_INIT(0), 0 };
	struct fh_judge_output output = { .checker = NULL, .cases = &any, .count = 1 };
	struct fh_judge_outcome o = { 0 };
	struct fh_client *client;
	unsigned number;
	int r = fh_session_client(s, 0, &client, &number, err);
	if (r >= 0)
		r = fh_judge_by_output(client, s->settings, l->name, &output, fh_str(l->version), 0, &o, err);
	if (r < 0)
		return r;
	size_t n = o.run ? o.run->stream_size[FH_STDOUT] : 0;
	if (n == 0 || o.run->status != FH_STATUS_OK)
		r = probe_failed(l, &o, err);
	else {
		s->output_versions[language] = fh_xstrndup((const char *)o.run->stream_data[FH_STDOUT], FH_MIN(n, 1024));
		r = add_tool_version(s, language, &s->output_versions[language], err);
	}
	fh_judge_outcome_release(&o);
	return r;
}

/* Finds out the tool's version as above, but by a pair of sandboxes, as samples are judged: the zygotes from which
 * these will start are made on the way. */
static int probe_split(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[language];
	struct fh_judge_problem problem = { .language = language, .head = FH_BUF_INIT(0), .tail = FH_BUF_INIT(0) };
	fh_auto_free char *name = fh_xstrdup(l->split->probe_name);
	struct fh_split_pair pair = { .problem = &problem, .completion = fh_str(l->split->probe), .wait = true };
	struct fh_split_outcome o = { 0 };
	struct fh_client *client;
	unsigned number;
	problem.entry_point = name;
	fh_buf_adds(&problem.tail, l->split->probe_test);
	int r = fh_session_client(s, 0, &client, &number, err);
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

/* Whether some of the samples' problems in a language are split. */
static bool splits(const struct fh_judge_session *s, const struct fh_judge_samples *samples,
                   enum fh_judge_language language)
{
	for (size_t i = 0; i < samples->count; i++) {
		size_t at = samples->items[i].problem;
		if (s->problems->items[at].language == language && s->modes[at] <= FH_MODE_SPLIT_CHANGES)
			return true;
	}
	return false;
}

/* Reads and tries what is needed to judge tests in a language. */
static int open_language(struct fh_judge_session *s, const struct fh_judge_samples *samples,
                         enum fh_judge_language language, struct fh_error *err)
{
	const struct fh_judge_language_info *l = fh_judge_languages[language];
	bool split_probe = l->split && l->split->probe && splits(s, samples, language);
	int r = l->in_process ? read_drivers(s, language, err) : 0;
	if (r >= 0 && fh_split_has(language))
		r = fh_split_prepare(s->split, language, err);
	if (r < 0)
		return r;
	if (!l->in_process)
		return probe_output(s, language, err);
	return (split_probe ? probe_split : probe)(s, language, err);
}

/* The language of a problem's checker; FH_JUDGE_LANGUAGE_COUNT_: it has none, or one in a language that is not
 * judged. */
static enum fh_judge_language checker_of(const struct fh_judge_problem *p)
{
	return p->output && p->output->checker ? fh_judge_language_of_name(p->output->checker_language)
	                                       : FH_JUDGE_LANGUAGE_COUNT_;
}

int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err)
{
	struct fh_judge_session *s = FH_NEW(struct fh_judge_session);
	bool wanted[FH_JUDGE_LANGUAGE_COUNT_] = { false }, by_output[FH_JUDGE_LANGUAGE_COUNT_] = { false };
	bool checks[FH_JUDGE_LANGUAGE_COUNT_ + 1] = { false };
	unsigned count = 0;
	int r = 0;
	s->settings = settings;
	s->problems = problems;
	s->modes = fh_xcalloc(problems->count, sizeof(*s->modes));
	s->time_factors = fh_xcalloc(problems->count, sizeof(*s->time_factors));
	s->draws = fh_xcalloc(problems->count, sizeof(*s->draws));
	s->checked = fh_xcalloc(problems->count, sizeof(*s->checked));
	for (size_t i = 0; i < problems->count; i++)
		s->modes[i] = first_mode(&problems->items[i]);
	pthread_mutex_init(&s->lock, NULL);
	r = fh_split_new(settings, &s->split, err);
	if (r >= 0 && settings->seed)
		snprintf(s->seed, sizeof(s->seed), "%s", settings->seed);
	else if (r >= 0)
		r = fh_judge_seed_new(s->seed, err);
	for (size_t i = 0; i < samples->count; i++) {
		const struct fh_judge_problem *p = &problems->items[samples->items[i].problem];
		count += !wanted[p->language] && !by_output[p->language];
		*(p->output ? &by_output[p->language] : &wanted[p->language]) = true;
		checks[checker_of(p)] = true;
	}
	if (r >= 0 && settings->interpreter && count > 1)
		r = fh_error_set(err, FH_E_ARGUMENT, "--interpreter needs samples of one language; these are of %u", count);
	for (enum fh_judge_language l = 0; r >= 0 && l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		if (wanted[l] || by_output[l])
			r = read_language(s, l, err);
		if (r >= 0 && wanted[l])
			r = open_language(s, samples, l, err);
		if (r >= 0 && (by_output[l] || checks[l]) && !s->output_versions[l])
			r = probe_output(s, l, err);
	}
	if (r < 0) {
		fh_judge_session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* Checks that the language's tool exists. Without it no plan can be made, and the error names the package that has
 * it. */
static int check_tool(const struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	const char *version = fh_judge_languages[language]->version;
	struct fh_request request;
	struct fh_plan *plan = NULL;
	fh_request_init(&request);
	request.language = fh_judge_language_name(language);
	request.code = (struct fh_bytes){ version, strlen(version) };
	request.limits = s->settings->limits;
	request.standard_library_only = !s->settings->packages;
	int r = fh_plan_build(&request, &plan, err);
	fh_plan_free(plan);
	return r;
}

int fh_judge_session_add_language(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&s->lock);
	if (!s->added[language]) {
		r = check_tool(s, language, err);
		if (r >= 0 && fh_judge_languages[language]->in_process)
			r = read_drivers(s, language, err);
		if (r >= 0 && fh_split_has(language))
			r = fh_split_prepare(s->split, language, err);
		s->added[language] = r >= 0;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

const struct fh_judge_settings *fh_judge_settings(const struct fh_judge_session *s)
{
	return s->settings;
}

void fh_judge_session_close(struct fh_judge_session *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->engines && !s->settings->shared_client; i++)
		fh_client_close(s->clients[i]);
	fh_split_free(s->split);
	free(s->modes);
	free(s->checked);
	free(s->time_factors);
	free(s->draws);
	for (int l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		fh_buf_release(&s->drivers[l].driver);
		for (size_t i = 0; i < FH_JUDGE_LIBRARIES_MAX; i++)
			fh_buf_release(&s->drivers[l].libraries[i]);
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

/* ------------------------------------------------------------------------------------------------------------- key */

void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX])
{
	enum fh_judge_language l = problem->language;
	enum fh_judge_mode mode = fh_judge_mode(s, problem);
	enum fh_judge_language checker = checker_of(problem);
	const struct fh_judge_inputs inputs = {
		.problem = problem,
		.sample = sample,
		.limits = fh_judge_limits(s, problem),
		.mode = fh_mode_words[mode].key,
		.interpreter = s->settings->interpreter,
		.seed = s->settings->seed,
		.flags = fh_session_flags(s, l),
		.repeat = s->settings->repeat,
		.packages = s->settings->packages,
		.version = fh_version(),
		.driver = s->driver_digests[l],
		.split_drivers = fh_split_digest(s->split, l),
		.language_data = s->language_digests[l],
		.tool = problem->output || !fh_judge_languages[l]->in_process ? s->output_versions[l] : s->versions[l],
		.checker_tool = checker < FH_JUDGE_LANGUAGE_COUNT_ ? s->output_versions[checker] : NULL,
	};
	fh_judge_inputs_key(&inputs, ret_hex);
}
