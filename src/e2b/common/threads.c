/* SPDX-License-Identifier: MIT */
#include "e2b/common/threads.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/clock.h"

enum { STACK = 256 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static size_t alive;

struct start {
	void *(*run)(void *context);
	void *context;
};

static void *run(void *argument)
{
	struct start s = *(struct start *)argument;
	free(argument);
	(void)s.run(s.context);
	pthread_mutex_lock(&lock);
	alive--;
	pthread_cond_broadcast(&fewer);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void fh_thread_start(void *(*what)(void *context), void *context)
{
	struct start *s = FH_NEW(struct start);
	pthread_attr_t attributes;
	pthread_t thread;
	*s = (struct start){ what, context };
	pthread_mutex_lock(&lock);
	alive++;
	pthread_mutex_unlock(&lock);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, run, s) != 0)
		abort();
	pthread_attr_destroy(&attributes);
}

void fh_thread_wait_all(void)
{
	pthread_mutex_lock(&lock);
	while (alive)
		pthread_cond_wait(&fewer, &lock);
	pthread_mutex_unlock(&lock);
}

void fh_condition_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void fh_wait_ms(pthread_cond_t *c, pthread_mutex_t *held, int64_t ms)
{
	int64_t at = fh_now_ns() + ms * FH_NS_PER_MS;
	struct timespec t = { at / FH_NS_PER_S, at % FH_NS_PER_S };
	pthread_cond_timedwait(c, held, &t);
}
