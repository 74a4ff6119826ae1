/* SPDX-License-Identifier: MIT */
#include "eval/services/services.h"
#include <pthread.h>
#include "base/base.h"
#include "eval/services/judging.h"
#include "eval/services/script_sandbox.h"
#include "fumehood/sandbox.h"
#include "script/script.h"

struct fh_services {
	pthread_mutex_t lock; /* guards client and client_error; the script pool has its own */
	struct fh_client *client;
	bool client_failed;
	struct fh_error client_error;
	struct fh_judging *judging;
	struct fh_script_pool *scripts;
	struct fh_script_sandbox_place place;
	const volatile int *cancel;
};

struct fh_services *fh_services_new(const struct fh_services_options *options)
{
	struct fh_services *s = FH_NEW(struct fh_services);
	pthread_mutex_init(&s->lock, NULL);
	s->cancel = options->cancel;
	s->judging = fh_judging_new(options->cancel);
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
	fh_judging_free(s->judging);
	fh_client_close(s->client);
	pthread_mutex_destroy(&s->lock);
	free(s->place.dir);
	free(s);
}

int fh_services_client(struct fh_services *s, struct fh_client **ret, struct fh_error *err)
{
	pthread_mutex_lock(&s->lock);
	if (!s->client && !s->client_failed && fh_client_open(NULL, &s->client, &s->client_error) < 0)
		s->client_failed = true;
	int result = 0;
	if (s->client_failed) {
		if (err)
			*err = s->client_error;
		result = -(int)s->client_error.code;
	} else {
		*ret = s->client;
	}
	pthread_mutex_unlock(&s->lock);
	return result;
}

struct fh_judging *fh_services_judging(struct fh_services *s)
{
	return s->judging;
}

struct fh_script_pool *fh_services_scripts(struct fh_services *s)
{
	return s->scripts;
}

const volatile int *fh_services_cancel(const struct fh_services *s)
{
	return s->cancel;
}
