/* SPDX-License-Identifier: MIT */
#include "judge/split/split.h"

#include <pthread.h>

#include "base/fd.h"
#include "base/text/sha256.h"
#include "judge/problems/languages.h"
#include "judge/common/seed.h"
#include "judge/common/settings.h"
#include "proto/plan.h"

enum side { JUDGE, CANDIDATE, SIDE_COUNT_ };
enum list {
	OTHERS = SIDE_COUNT_,
	LIST_COUNT_
}; /* the lists of driver files that a language has; the first two are those of the judge's and the candidate's side */

struct fh_split {
	const struct fh_judge_settings *settings;
	pthread_mutex_t lock; /* guards the fields below until they are filled */
	struct fh_buf files[FH_JUDGE_LANGUAGE_COUNT_]
	                   [LIST_COUNT_]; /* for each list: the contents of its files, one after the other */
	size_t file_ends[FH_JUDGE_LANGUAGE_COUNT_][LIST_COUNT_]
	                [FH_SPLIT_DRIVERS_MAX]; /* for each file of a list: where its content ends in that text */
	char digest[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX]; /* digest of all files; "": they were not read yet */
	struct fh_plan *plans[FH_JUDGE_LANGUAGE_COUNT_][SIDE_COUNT_][FH_HASH_SECRETS];
	struct fh_builds *builds;
};

int fh_split_new(const struct fh_judge_settings *settings, struct fh_split **ret, struct fh_error *err)
{
	struct fh_split *s = FH_NEW(struct fh_split);
	s->settings = settings;
	s->builds = fh_builds_new(settings);
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

void fh_split_free(struct fh_split *s)
{
	if (!s)
		return;
	for (int l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		for (int list = 0; list < LIST_COUNT_; list++)
			fh_buf_release(&s->files[l][list]);
		for (int side = 0; side < SIDE_COUNT_; side++)
			for (int turn = 0; turn < FH_HASH_SECRETS; turn++)
				fh_plan_free(s->plans[l][side][turn]);
	}
	fh_builds_free(s->builds);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void side_release(struct fh_split_side *s)
{
	fh_buf_release(&s->input);
	free(s->owned);
	free(s->compile_error);
	free(s->unfit);
	*s = (struct fh_split_side){ 0 };
}

bool fh_split_has(enum fh_judge_language language)
{
	return fh_judge_languages[language]->split != NULL;
}

const char *fh_split_unfit(const struct fh_judge_problem *p)
{
	const struct fh_split_language *l = fh_judge_languages[p->language]->split;
	if (!l)
		return "there are no stand-ins for this language";
	const char *why = l->unfit && p->entry_point ? l->unfit(p) : NULL;
	if (!why && (!p->entry_point || !p->entry_point[0]))
		why = "the data does not say which function the test calls";
	if (!why && p->shares_process)
		why = "the test looks at more of the program's process than what its function returns";
	return why;
}

/* ---------------------------------------------------------------------------------------------- drivers and plans */

static const char *const *list_of(enum fh_judge_language language, int list)
{
	const struct fh_split_language *l = fh_judge_languages[language]->split;
	return list == JUDGE ? l->judge : list == CANDIDATE ? l->candidate : l->others;
}

/* Requires the lock. */
static int read_list(struct fh_split *s, enum fh_judge_language language, int list, struct fh_error *err)
{
	struct fh_buf *to = &s->files[language][list];
	const char *const *names = list_of(language, list);
	fh_buf_truncate(to, 0);
	to->max = FH_JUDGE_GUEST_MAX;
	for (size_t i = 0; i < FH_SPLIT_DRIVERS_MAX && names[i]; i++) {
		fh_auto_free char *path = NULL;
		int r = fh_judge_guest_path(language, names[i], &path, err);
		if (r >= 0)
			r = fh_file_read(path, to, err);
		if (r < 0)
			return r;
		s->file_ends[language][list][i] = to->n;
	}
	return 0;
}

struct fh_str fh_split_file(const struct fh_split *s, enum fh_judge_language language, const char *name)
{
	for (int list = 0; list < LIST_COUNT_; list++) {
		const char *const *names = list_of(language, list);
		const size_t *ends = s->file_ends[language][list];
		for (size_t i = 0; i < FH_SPLIT_DRIVERS_MAX && names[i]; i++)
			if (fh_streq(names[i], name)) {
				size_t start = i ? ends[i - 1] : 0;
				return (struct fh_str){ s->files[language][list].p + start, ends[i] - start };
			}
	}
	return (struct fh_str){ "", 0 };
}

int fh_split_prepare(struct fh_split *s, enum fh_judge_language language, struct fh_error *err)
{
	struct fh_sha256 h = FH_SHA256_INIT;
	int r = 0;
	pthread_mutex_lock(&s->lock);
	if (!s->digest[language][0]) {
		for (int list = 0; r >= 0 && list < LIST_COUNT_; list++) {
			r = read_list(s, language, list, err);
			fh_sha256_add_field(&h, fh_buf_str(&s->files[language][list]));
		}
		if (r >= 0)
			fh_sha256_hex(&h, s->digest[language]);
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

const char *fh_split_digest(const struct fh_split *s, enum fh_judge_language language)
{
	return s->digest[language];
}

static const struct fh_descriptor descriptors[] = {
	{ 3, FH_DESCRIPTOR_IN },
	{ 4, FH_DESCRIPTOR_OUT },
	{ 5, FH_DESCRIPTOR_DRIVER },
};

/* The modules that the interpreter imports ahead, and the mounts and texts by which they are visible inside. */
struct modules {
	const char *preload[FH_PLAN_PRELOAD_MAX + 1];
	struct fh_mount mounts[FH_ARRAY_SIZE(((struct fh_split_language *)NULL)->judge)];
	size_t mount_count;
	char *texts[2 * FH_ARRAY_SIZE(((struct fh_split_language *)NULL)->judge)];
	size_t text_count;
};

static void modules_release(struct modules *m)
{
	for (size_t i = 0; i < m->text_count; i++)
		free(m->texts[i]);
}

static int find_modules(enum fh_judge_language language, enum side side, struct modules *m, struct fh_error *err)
{
	const struct fh_split_language *l = fh_judge_languages[language]->split;
	const char *const *names = list_of(language, side);
	size_t n = 0;
	for (; l->preload && l->preload[n]; n++)
		m->preload[n] = l->preload[n];
	for (; *names; names++) {
		char *source, *target = fh_xasprintf("%s/%s", FH_SPLIT_MODULES, *names);
		m->texts[m->text_count++] = target;
		int r = fh_judge_guest_path(language, *names, &source, err);
		if (r < 0)
			return r;
		m->texts[m->text_count++] = source;
		m->mounts[m->mount_count++] = (struct fh_mount){ source, target, false };
		m->preload[n] = target;
	}
	return 0;
}

static int build_plan(struct fh_split *s, enum fh_judge_language language, enum side side, bool is_program,
                      unsigned turn, struct fh_plan **ret, struct fh_error *err)
{
	const struct fh_split_language *l = fh_judge_languages[language]->split;
	const char *main = side == JUDGE ? l->judge_main : l->candidate_main;
	FH_CLEANUP(modules_release) struct modules m = { .text_count = 0 };
	struct fh_request request;
	fh_request_init(&request);
	request.language = fh_judge_language_name(language);
	request.preload = l->preload;
	if (!is_program && main) {
		int r = find_modules(language, side, &m, err);
		if (r < 0)
			return r;
		request.code = (struct fh_bytes){ main, strlen(main) };
		request.mounts = m.mounts;
		request.mount_count = m.mount_count;
		request.preload = m.preload;
	} else if (!is_program) {
		request.code = (struct fh_bytes){ s->files[language][side].p, s->files[language][side].n };
	}
	request.limits = s->settings->limits;
	request.flags = s->settings->packages ? NULL : l->flags;
	request.interpreter = s->settings->interpreter;
	request.standard_library_only = !s->settings->packages;
	request.descriptors = descriptors;
	request.descriptor_count = side == JUDGE ? 3 : 2;
	request.hash_secret = fh_judge_hash_secret(turn);
	int r = fh_plan_build(&request, ret, err);
	if (r >= 0 && l->adjust)
		l->adjust(*ret, side == JUDGE);
	return r;
}

int fh_split_script_plan(struct fh_split *s, const struct fh_split_pair *p, bool judge, const struct fh_plan **ret,
                         struct fh_error *err)
{
	enum fh_judge_language language = p->problem->language;
	enum side side = judge ? JUDGE : CANDIDATE;
	struct fh_plan **plan = &s->plans[language][side][p->turn % FH_HASH_SECRETS];
	pthread_mutex_lock(&s->lock);
	int r = *plan ? 0 : build_plan(s, language, side, false, p->turn, plan, err);
	pthread_mutex_unlock(&s->lock);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	*ret = *plan;
	return 0;
}

/* A compiled program has no hash secret that could be set. The artifact is a file of each run; the compile step is not
 * part of the plan that runs. */
int fh_split_program(struct fh_split *s, enum fh_judge_language language, bool judge, struct fh_artifact *artifact,
                     struct fh_split_side *ret, struct fh_error *err)
{
	enum side side = judge ? JUDGE : CANDIDATE;
	struct fh_plan **plan = &s->plans[language][side][0];
	pthread_mutex_lock(&s->lock);
	int r = *plan ? 0 : build_plan(s, language, side, true, 0, plan, err);
	if (r >= 0 && (*plan)->compile) {
		fh_plan_free((*plan)->compile);
		(*plan)->compile = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	if (r < 0) {
		err->phase = FH_PHASE_PLAN;
		return r;
	}
	ret->plan = *plan;
	ret->files[ret->file_count++] = (struct fh_file){ (*plan)->artifact, { artifact->data, artifact->size }, 0755 };
	ret->owned = FH_TAKE_PTR(artifact->data);
	return 0;
}

struct fh_builds *fh_split_builds(struct fh_split *s)
{
	return s->builds;
}

void fh_split_input(struct fh_buf *out, const struct fh_str *parts, size_t count, const bool *flag)
{
	for (size_t i = 0; i < count; i++)
		fh_buf_addf(out, "%015zu\n", parts[i].n);
	if (flag)
		fh_buf_addf(out, "%015d\n", *flag);
	for (size_t i = 0; i < count; i++)
		fh_buf_add(out, parts[i].p, parts[i].n);
}

/* ----------------------------------------------------------------------------------------------------------- runs */

static struct fh_member member_of(const struct fh_split_side *s)
{
	return (struct fh_member){
		.plan = s->plan,
		.files = s->files,
		.file_count = s->file_count,
		.stdin_data = { s->input.n ? s->input.p : "", s->input.n },
	};
}

static int run_members(struct fh_split *s, struct fh_client *client, const struct fh_member *members,
                       struct fh_split_outcome *ret, struct fh_error *err)
{
	static const struct fh_link links[] = { { JUDGE, 4, CANDIDATE, 3 }, { CANDIDATE, 4, JUDGE, 3 } };
	struct fh_group group = FH_GROUP_INIT;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	struct fh_result *results[SIDE_COUNT_];
	group.members = members;
	group.member_count = SIDE_COUNT_;
	group.links = links;
	group.link_count = FH_ARRAY_SIZE(links);
	group.leader = JUDGE;
	options.cancel = s->settings->cancel;
	int r = fh_run_group(client, &group, &options, results, err);
	if (r < 0)
		return r;
	ret->judge = results[JUDGE];
	ret->candidate = results[CANDIDATE];
	fh_split_decide(ret);
	return 0;
}

/* Runs a pair that needs plans of its own. */
static int run_specially(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                         const struct fh_split_side *sides, bool wait, struct fh_split_outcome *ret,
                         struct fh_error *err)
{
	struct fh_member members[SIDE_COUNT_];
	struct fh_plan *plans[SIDE_COUNT_];
	for (enum side side = JUDGE; side < SIDE_COUNT_; side++) {
		members[side] = member_of(&sides[side]);
		members[side].plan = plans[side] = fh_plan_copy(sides[side].plan);
		if (p->limits)
			plans[side]->limits = *p->limits;
		if (wait)
			plans[side]->start = FH_START_ZYGOTE;
	}
	int r = run_members(s, client, members, ret, err);
	for (enum side side = JUDGE; side < SIDE_COUNT_; side++)
		fh_plan_free(plans[side]);
	return r;
}

static int run_pair(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                    const struct fh_split_side *sides, struct fh_split_outcome *ret, struct fh_error *err)
{
	const struct fh_member members[] = { member_of(&sides[JUDGE]), member_of(&sides[CANDIDATE]) };
	if (p->wait) { /* asking for a zygote waits until there is one; if that is not possible, any start will do */
		int r = run_specially(s, client, p, sides, true, ret, err);
		if (r < 0 || ret->verdict != FH_VERDICT_ENGINE_ERROR)
			return r;
		fh_split_outcome_release(ret);
	}
	if (p->limits)
		return run_specially(s, client, p, sides, false, ret, err);
	return run_members(s, client, members, ret, err);
}

void fh_split_outcome_release(struct fh_split_outcome *o)
{
	free(o->reason);
	fh_result_free(o->judge);
	fh_result_free(o->candidate);
	*o = (struct fh_split_outcome){ 0 };
}

int fh_split_run(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                 struct fh_split_outcome *ret, struct fh_error *err)
{
	const struct fh_split_language *l = fh_judge_languages[p->problem->language]->split;
	struct fh_split_side sides[SIDE_COUNT_] = { 0 };
	*ret = (struct fh_split_outcome){ 0 };
	int r = l->judge_side(s, client, p, &sides[JUDGE], err);
	if (r >= 0 && !sides[JUDGE].unfit)
		r = l->candidate_side(s, client, p, &sides[CANDIDATE], err);
	if (r >= 0 && sides[JUDGE].unfit) {
		ret->unfit = true;
		ret->verdict = FH_VERDICT_ENGINE_ERROR;
		ret->reason = FH_TAKE_PTR(sides[JUDGE].unfit);
	} else if (r >= 0 && sides[CANDIDATE].compile_error) {
		ret->verdict = FH_VERDICT_COMPILE_ERROR;
		ret->reason = FH_TAKE_PTR(sides[CANDIDATE].compile_error);
	} else if (r >= 0) {
		r = run_pair(s, client, p, sides, ret, err);
	}
	for (int i = 0; i < SIDE_COUNT_; i++)
		side_release(&sides[i]);
	return r;
}
