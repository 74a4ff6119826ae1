/* SPDX-License-Identifier: MIT */
#include "eval/services/judging.h"

#include <pthread.h>

#include "judge/session/session.h"

struct judged {
	struct fh_judge_settings settings; /* the session borrows them, so they must not move */
	struct fh_judge_problems problems; /* an empty list, which opening the session needs */
	struct fh_judge_samples samples;
	struct fh_judge_session *session;
};

struct fh_judging {
	const volatile int *cancel;
	pthread_mutex_t lock; /* guards the list of sessions */
	struct judged *list[FH_JUDGING_SESSIONS_MAX];
	size_t count;
};

struct fh_judging *fh_judging_new(const volatile int *cancel)
{
	struct fh_judging *j = FH_NEW(struct fh_judging);
	j->cancel = cancel;
	pthread_mutex_init(&j->lock, NULL);
	return j;
}

void fh_judging_free(struct fh_judging *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->count; i++) {
		fh_judge_session_close(j->list[i]->session);
		free(j->list[i]);
	}
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static struct judged *find(const struct fh_judging *j, const struct fh_limits *limits, bool packages)
{
	for (size_t i = 0; i < j->count; i++) {
		const struct fh_judge_settings *s = &j->list[i]->settings;
		if (s->packages == packages && memcmp(s->limits.value, limits->value, sizeof(limits->value)) == 0)
			return j->list[i];
	}
	return NULL;
}

static int add(struct fh_judging *j, struct fh_client *client, const struct fh_limits *limits, bool packages,
               struct judged **ret, struct fh_error *err)
{
	if (j->count == FH_JUDGING_SESSIONS_MAX)
		return fh_error_set(err, FH_E_CONFIG, "code: the tests name more than %d sets of limits",
		                    FH_JUDGING_SESSIONS_MAX);
	struct judged *one = FH_NEW(struct judged);
	fh_judge_settings_init(&one->settings);
	one->settings.limits = *limits;
	one->settings.packages = packages;
	one->settings.cancel = j->cancel;
	one->settings.shared_client = client;
	int r = fh_judge_session_open(&one->settings, &one->problems, &one->samples, &one->session, err);
	if (r < 0) {
		free(one);
		return r;
	}
	*ret = j->list[j->count++] = one;
	return 0;
}

int fh_judging_session(struct fh_judging *j, struct fh_client *client, const struct fh_limits *limits, bool packages,
                       struct fh_judge_session **ret, struct fh_error *err)
{
	int r = 0;
	pthread_mutex_lock(&j->lock);
	struct judged *one = find(j, limits, packages);
	if (!one)
		r = add(j, client, limits, packages, &one, err);
	pthread_mutex_unlock(&j->lock);
	if (r >= 0)
		*ret = one->session;
	return r;
}
