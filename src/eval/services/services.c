/* SPDX-License-Identifier: MIT */
#include "eval/services/services.h"
#include <pthread.h>
#include "base/base.h"
#include "eval/services/judging.h"
#include "eval/services/script_sandbox.h"
#include "fumehood/sandbox.h"
#include "sandbox/connection/client.h"
#include "script/script.h"

struct fh_services {
	pthread_mutex_t lock; /* guards engines and client_error; the script pool has its own */
	struct engine {
		struct fh_client *client;
		struct fh_judging *judging;
	} engines[FH_SERVICES_ENGINES_MAX]; /* the last one is used, unless it has ended */
	size_t count;
	struct fh_error client_error; /* code FH_OK unless no engine can be started */
	struct fh_script_pool *scripts;
	struct fh_script_sandbox_place place;
	const volatile int *cancel;
};

struct fh_services *fh_services_new(const struct fh_services_options *options)
{
	struct fh_services *s = FH_NEW(struct fh_services);
	pthread_mutex_init(&s->lock, NULL);
	s->cancel = options->cancel;
	s->place.services = s;
	s->place.dir = options->dir ? realpath(options->dir, NULL) : NULL;
	s->scripts = fh_script_pool_new(&(struct fh_script_pool_options){
	    .workers_max = options->workers,
	    .timeout_ms = options->script_timeout_ms,
	    .env = options->env,
	    .handed_over = options->script_env,
	    .sandbox = { .run = fh_eval_script_sandbox_run, .context = &s->place, .always = options->sandbox_scripts },
	    .cancel = options->cancel });
	return s;
}

void fh_services_free(struct fh_services *s)
{
	if (!s)
		return;
	fh_script_pool_free(s->scripts);
	for (size_t i = 0; i < s->count; i++) {
		fh_judging_free(s->engines[i].judging);
		fh_client_close(s->engines[i].client);
	}
	pthread_mutex_destroy(&s->lock);
	free(s->place.dir);
	free(s);
}

bool fh_services_client_ended(const struct fh_client *client)
{
	return fh_client_lost(client);
}

static void start_engine(struct fh_services *s)
{
	struct engine *e = &s->engines[s->count];
	if (s->count == FH_SERVICES_ENGINES_MAX)
		(void)fh_error_set(&s->client_error, FH_E_UNAVAILABLE, "the engine ended %zu times", s->count);
	else if (fh_client_open(NULL, &e->client, &s->client_error) == 0) {
		e->judging = fh_judging_new(s->cancel);
		s->count++;
	}
}

int fh_services_client(struct fh_services *s, struct fh_client **ret, struct fh_error *err)
{
	pthread_mutex_lock(&s->lock);
	if (s->client_error.code == FH_OK && (!s->count || fh_client_lost(s->engines[s->count - 1].client)))
		start_engine(s);
	int result = -(int)s->client_error.code;
	if (result == 0)
		*ret = s->engines[s->count - 1].client;
	else if (err)
		*err = s->client_error;
	pthread_mutex_unlock(&s->lock);
	return result;
}

struct fh_judging *fh_services_judging(struct fh_services *s, const struct fh_client *client)
{
	pthread_mutex_lock(&s->lock);
	size_t i = s->count - 1;
	while (i > 0 && s->engines[i].client != client)
		i--;
	struct fh_judging *judging = s->engines[i].judging;
	pthread_mutex_unlock(&s->lock);
	return judging;
}

struct fh_script_pool *fh_services_scripts(struct fh_services *s)
{
	return s->scripts;
}

const volatile int *fh_services_cancel(const struct fh_services *s)
{
	return s->cancel;
}
