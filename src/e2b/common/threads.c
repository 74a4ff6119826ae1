/* SPDX-License-Identifier: MIT */
#include "e2b/common/threads.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/clock.h"

enum { STACK = 256 << 10, IDLE_MAX = 32, IDLE_MS = 5000 };

struct task {
	void *(*run)(void *context);
	void *context;
	struct task *next;
};

/* A thread that has done its work and waits for more: runs of code follow each other quickly, and to make a thread for
 * each costs a dozen system calls. */
struct idle {
	pthread_cond_t wake;
	struct task *task; /* NULL: none yet */
	struct idle *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;  /* a task or a thread has ended */
static size_t tasks, threads, idle_count;
static struct idle *idle_list;
static struct task *waiting, **waiting_end = &waiting; /* tasks that no thread has taken yet, the oldest first */
static bool closing;

static struct task *take_waiting(void)
{
	struct task *t = waiting;
	if (t && !(waiting = t->next))
		waiting_end = &waiting;
	return t;
}

/* Waits for the next task. NULL: the thread is to end. Called with the lock. */
static struct task *await_task(void)
{
	struct idle own = { .next = idle_list };
	int64_t until_ns = fh_now_ns() + IDLE_MS * FH_NS_PER_MS, now_ns;
	if (waiting)
		return take_waiting();
	if (closing || idle_count >= IDLE_MAX)
		return NULL;
	fh_condition_init(&own.wake);
	idle_list = &own;
	idle_count++;
	while (!own.task && !closing && (now_ns = fh_now_ns()) < until_ns)
		fh_wait_ms(&own.wake, &lock, (until_ns - now_ns) / FH_NS_PER_MS + 1);
	/* nobody took this thread out of the list, as fh_thread_start does when it gives a thread a task  */
	if (!own.task) {
		struct idle **at = &idle_list;
		while (*at != &own)
			at = &(*at)->next;
		*at = own.next;
		idle_count--;
	}
	pthread_cond_destroy(&own.wake);
	return own.task;
}

static void *work(void *unused)
{
	struct task *t;
	(void)unused;
	pthread_mutex_lock(&lock);
	while ((t = await_task())) {
		pthread_mutex_unlock(&lock);
		(void)t->run(t->context);
		free(t);
		pthread_mutex_lock(&lock);
		tasks--;
		pthread_cond_broadcast(&fewer);
	}
	threads--;
	pthread_cond_broadcast(&fewer);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static bool make_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int sys = pthread_create(&thread, &attributes, work, NULL);
	pthread_attr_destroy(&attributes);
	return sys == 0;
}

void fh_thread_start(void *(*run)(void *context), void *context)
{
	struct task *t = FH_NEW(struct task);
	*t = (struct task){ run, context, NULL };
	pthread_mutex_lock(&lock);
	struct idle *i = idle_list;
	tasks++;
	if (i) {
		idle_list = i->next;
		idle_count--;
		i->task = t;
		pthread_cond_signal(&i->wake);
	} else {
		*waiting_end = t;
		waiting_end = &t->next;
		if (make_thread())
			threads++;
		else if (threads == 0)
			abort();
	}
	pthread_mutex_unlock(&lock);
}

void fh_thread_wait_all(void)
{
	pthread_mutex_lock(&lock);
	while (tasks)
		pthread_cond_wait(&fewer, &lock);
	closing = true;
	for (struct idle *i = idle_list; i; i = i->next)
		pthread_cond_signal(&i->wake);
	while (threads)
		pthread_cond_wait(&fewer, &lock);
	closing = false;
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
