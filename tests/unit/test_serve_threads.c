/* SPDX-License-Identifier: MIT */
/* The server's work on threads goes on when the host gives no more of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "e2b/common/threads.h"

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int begun, ended, open;
};

static void gate_init(struct gate *g)
{
	*g = (struct gate){ 0 };
	pthread_mutex_init(&g->lock, NULL);
	fh_condition_init(&g->changed);
}

static void *wait_at_gate(void *gate)
{
	struct gate *g = gate;
	pthread_mutex_lock(&g->lock);
	g->begun++;
	pthread_cond_broadcast(&g->changed);
	while (!g->open)
		fh_wait_ms(&g->changed, &g->lock, 1000);
	g->ended++;
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static void await_begun(struct gate *g, int n)
{
	pthread_mutex_lock(&g->lock);
	while (g->begun < n)
		fh_wait_ms(&g->changed, &g->lock, 1000);
	pthread_mutex_unlock(&g->lock);
}

static void open_gate(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = 1;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

/* The linker gives us the server's calls of pthread_create (--wrap): a host's limit of threads does not bind root. */
static bool host_is_full;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	return host_is_full ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

static void test_work_without_a_thread_waits_for_the_next_that_is_free(void **state)
{
	(void)state;
	struct gate first, second;
	gate_init(&first);
	gate_init(&second);
	open_gate(&second);
	fh_thread_start(wait_at_gate, &first);
	await_begun(&first, 1);
	host_is_full = true;
	fh_thread_start(wait_at_gate, &second);
	fh_thread_start(wait_at_gate, &second);
	host_is_full = false;
	pthread_mutex_lock(&second.lock);
	assert_int_equal(second.begun, 0);
	pthread_mutex_unlock(&second.lock);
	open_gate(&first);
	fh_thread_wait_all();
	assert_int_equal(first.ended, 1);
	assert_int_equal(second.ended, 2);
}

static void test_work_is_done_by_as_many_threads_at_once_as_it_needs(void **state)
{
	(void)state;
	struct gate g;
	gate_init(&g);
	for (int i = 0; i < 40; i++)
		fh_thread_start(wait_at_gate, &g);
	await_begun(&g, 40);
	open_gate(&g);
	fh_thread_wait_all();
	assert_int_equal(g.ended, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_without_a_thread_waits_for_the_next_that_is_free),
		cmocka_unit_test(test_work_is_done_by_as_many_threads_at_once_as_it_needs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
