/* SPDX-License-Identifier: MIT */
/* Runs: cancelled, large, from many threads, with a streamed stdin, in groups, and an engine that dies under them. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

static volatile int cancel;

static void *cancel_soon(void *arg)
{
	nap(0.3);
	__atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
	return arg;
}

static void cancel_a_run(void)
{
	struct fh_client *client = open_client();
	struct fh_plan *plan = shell_plan("sleep 20 & sleep 20; wait");
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_result *result;
	pthread_t thread;
	double t = now();
	o.cancel = &cancel;
	CHECK(pthread_create(&thread, NULL, cancel_soon, NULL) == 0);
	CHECK(fh_run(client, plan, &o, &result, &err) == -FH_E_CANCELLED);
	CHECK(now() - t < 18); /* they would have slept for 20 s */
	pthread_join(thread, NULL);
	/* the connection is as good as before */
	struct fh_plan *next = shell_plan("echo still here");
	OK(fh_run(client, next, NULL, &result, &err));
	CHECK(result->status == FH_STATUS_OK && strcmp((char *)result->stream_data[FH_STDOUT], "still here\n") == 0);
	fh_result_free(result);
	fh_plan_free(next);
	fh_plan_free(plan);
	fh_client_close(client);
}

/* A plan that does not fit into one message runs as one that does. */
static void a_large_plan_runs_like_a_small_one(void)
{
	struct fh_client *client = open_client();
	size_t size = 20 << 20;
	char *big = calloc(1, size);
	const char *const argv[] = { "/bin/sh", "-c", "wc -c < big; wc -c; echo x > made; exit 3", NULL };
	const char *const outs[] = { "made", "missing", NULL };
	struct fh_file file = { .name = "big", .content = { big, size } };
	struct fh_request r;
	struct fh_plan *plan;
	struct fh_result *results[2];
	CHECK(big != NULL);
	for (int i = 0; i < 2; i++) {
		fh_request_init(&r);
		r.argv = argv;
		r.files = &file;
		r.file_count = 1;
		r.outs = outs;
		r.out_count = 2;
		r.stdin_data = (struct fh_bytes){ big, 100000 };
		OK(fh_plan_build(&r, &plan, &err));
		OK(fh_run(client, plan, NULL, &results[i], &err));
		fh_plan_free(plan);
		file.content.size = 1000;
	}
	CHECK(strcmp((char *)results[0]->stream_data[FH_STDOUT], "20971520\n100000\n") == 0);
	CHECK(strcmp((char *)results[1]->stream_data[FH_STDOUT], "1000\n100000\n") == 0);
	for (int i = 0; i < 2; i++) {
		const struct fh_result *x = results[i];
		CHECK(x->status == FH_STATUS_RUNTIME_ERROR && x->exit_code == 3);
		CHECK(x->out_count == 2 && x->outs[0].size == 2 && x->outs[1].refused);
		CHECK(x->layers == results[1]->layers);
		CHECK(memcmp(x->enforced, results[1]->enforced, sizeof(x->enforced)) == 0);
		CHECK(x->usage.wall_us > 0);
	}
	for (int i = 0; i < 2; i++)
		fh_result_free(results[i]);
	free(big);
	fh_client_close(client);
}

enum { THREADS = 4, RUNS = 5 };

struct many {
	pthread_t thread;
	struct fh_client *client;
	int number;
};

static void *run_many(void *arg)
{
	struct many *m = arg;
	for (int i = 0; i < RUNS; i++) {
		char script[64], expected[64];
		struct fh_error e = FH_ERROR_INIT;
		struct fh_result *result;
		snprintf(script, sizeof(script), "echo %d-%d; exit %d", m->number, i, i);
		snprintf(expected, sizeof(expected), "%d-%d\n", m->number, i);
		struct fh_plan *plan = shell_plan(script);
		if (fh_run(m->client, plan, NULL, &result, &e) != 0)
			fail(__FILE__, __LINE__, "fh_run", &e);
		if (result->exit_code != i || strcmp((char *)result->stream_data[FH_STDOUT], expected) != 0)
			fail(__FILE__, __LINE__, "the result is another run's", &result->error);
		fh_result_free(result);
		fh_plan_free(plan);
	}
	return NULL;
}

static void many_threads_share_a_client(void)
{
	struct many m[THREADS];
	struct fh_client *client = open_client();
	for (int i = 0; i < THREADS; i++) {
		m[i] = (struct many){ .client = client, .number = i };
		CHECK(pthread_create(&m[i].thread, NULL, run_many, &m[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(m[i].thread, NULL);
	fh_client_close(client);
}

static void stdin_is_streamed_into_a_run(void)
{
	struct fh_client *client = open_client();
	struct fh_plan *plan = shell_plan("head -c 5; cat > /dev/null");
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_result *result;
	int pipes[2];
	CHECK(pipe(pipes) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		static char block[65536];
		close(pipes[0]);
		nap(0.2); /* after the start */
		memcpy(block, "hello", 5);
		for (int i = 0; i < 32; i++)
			if (write(pipes[1], block, sizeof(block)) < 0)
				_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	o.stdin_from_fd = true;
	o.stdin_fd = pipes[0];
	OK(fh_run(client, plan, &o, &result, &err));
	CHECK(result->status == FH_STATUS_OK);
	CHECK(strcmp((char *)result->stream_data[FH_STDOUT], "hello") == 0);
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	fh_result_free(result);
	fh_plan_free(plan);
	close(pipes[0]);
	fh_client_close(client);
}

struct waiting {
	pthread_t thread;
	struct fh_client *client;
	struct fh_plan *plan;
	int result;
	struct fh_error err;
};

static void *run_and_wait(void *arg)
{
	struct waiting *w = arg;
	struct fh_result *result;
	w->result = fh_run(w->client, w->plan, NULL, &result, &w->err);
	return NULL;
}

static bool is_alive(const char *mark)
{
	char command[128];
	snprintf(command, sizeof(command), "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q 'slee[p] %s'",
	         mark);
	return system(command) == 0;
}

static void an_engine_killed_in_the_middle(void)
{
	struct waiting w[3] = { 0 };
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char script[64], mark[32];
	pid_t engine = 0;
	CHECK(is_listed(fh_sandbox_id(s), &engine) && engine > 0);
	snprintf(mark, sizeof(mark), "77.%d", (int)getpid());
	snprintf(script, sizeof(script), "sleep %s", mark);
	struct fh_plan *plan = shell_plan(script);
	for (int i = 0; i < 3; i++) {
		w[i].client = client;
		w[i].plan = plan;
		CHECK(pthread_create(&w[i].thread, NULL, run_and_wait, &w[i]) == 0);
	}
	for (double until = now() + bound(3); now() < until && !is_alive(mark);)
		nap(0.02);
	CHECK(is_alive(mark));
	kill(engine, SIGKILL);
	double t = now();
	for (int i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		CHECK(w[i].result == -FH_E_SYSTEM && w[i].err.retryable);
		if (!strstr(w[i].err.message, "killed by signal 9"))
			fail(__FILE__, __LINE__, "the error does not say that the engine was killed", &w[i].err);
	}
	while (is_alive(mark))
		CHECK(now() - t < bound(0.1));
	CHECK(fh_sandbox_destroy(s, &err) == -FH_E_SYSTEM);
	fh_sandbox_free(s);
	fh_plan_free(plan);
	fh_client_close(client);
}

static struct fh_plan *linked_plan(const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const struct fh_descriptor descriptors[] = { { 3, FH_DESCRIPTOR_IN },
		                                         { 4, FH_DESCRIPTOR_OUT },
		                                         { 5, FH_DESCRIPTOR_DRIVER } };
	struct fh_request r;
	struct fh_plan *plan;
	fh_request_init(&r);
	r.argv = argv;
	r.descriptors = descriptors;
	r.descriptor_count = 3;
	OK(fh_plan_build(&r, &plan, &err));
	return plan;
}

static const struct fh_link both_ways[] = { { 0, 4, 1, 3 }, { 1, 4, 0, 3 } };

/* One plan serves both members: what differs is the member's own. */
static void a_group_of_two(void)
{
	struct fh_client *client = open_client();
	struct fh_plan *plan =
	    linked_plan("read mine; cat note; echo \"$mine\" >&4; read other <&3; echo $mine$other >&5; sleep 0.1");
	const struct fh_file note[2] = { { "note", { "for 0\n", 6 }, 0 }, { "note", { "for 1\n", 6 }, 0 } };
	const struct fh_member members[] = { { plan, &note[0], 1, { "a\n", 2 } }, { plan, &note[1], 1, { "b\n", 2 } } };
	struct fh_group g = FH_GROUP_INIT;
	struct fh_result *r[2];
	g.members = members;
	g.member_count = 2;
	g.links = both_ways;
	g.link_count = 2;
	for (int i = 0; i < 3; i++) {
		OK(fh_run_group(client, &g, NULL, r, &err));
		CHECK(r[0]->status == FH_STATUS_OK && r[1]->status == FH_STATUS_OK && !r[0]->stopped && !r[1]->stopped);
		CHECK(strcmp((char *)r[0]->stream_data[FH_STDOUT], "for 0\n") == 0);
		CHECK(strcmp((char *)r[1]->stream_data[FH_STDOUT], "for 1\n") == 0);
		CHECK(strcmp((char *)r[0]->stream_data[FH_DRIVER], "ab\n") == 0);
		CHECK(strcmp((char *)r[1]->stream_data[FH_DRIVER], "ba\n") == 0);
		fh_result_free(r[0]);
		fh_result_free(r[1]);
	}
	fh_plan_free(plan);
	fh_client_close(client);
}

static void a_group_that_is_led_or_cancelled(void)
{
	struct fh_client *client = open_client();
	struct fh_plan *leader = linked_plan("read x <&3; exit 4"), *other = linked_plan("echo up >&4; sleep 20");
	const struct fh_member members[] = { { leader, NULL, 0, { NULL, 0 } }, { other, NULL, 0, { NULL, 0 } } };
	struct fh_group g = FH_GROUP_INIT;
	struct fh_run_options o = FH_RUN_OPTIONS_INIT;
	struct fh_result *r[2];
	pthread_t thread;
	g.members = members;
	g.member_count = 2;
	g.links = both_ways;
	g.link_count = 2;
	g.leader = 0;
	OK(fh_run_group(client, &g, NULL, r, &err));
	CHECK(r[0]->exit_code == 4 && !r[0]->stopped && r[1]->stopped && r[1]->signal == SIGKILL);
	fh_result_free(r[0]);
	fh_result_free(r[1]);
	const struct fh_member sleepers[] = { { other, NULL, 0, { NULL, 0 } }, { other, NULL, 0, { NULL, 0 } } };
	g.members = sleepers;
	cancel = 0;
	o.cancel = &cancel;
	CHECK(pthread_create(&thread, NULL, cancel_soon, NULL) == 0);
	CHECK(fh_run_group(client, &g, &o, r, &err) == -FH_E_CANCELLED);
	pthread_join(thread, NULL);
	g.link_count = 1; /* one end of two is left over: each member tells why it did not run */
	OK(fh_run_group(client, &g, NULL, r, &err));
	CHECK(r[0]->status == FH_STATUS_ENGINE_ERROR && r[1]->status == FH_STATUS_ENGINE_ERROR);
	fh_result_free(r[0]);
	fh_result_free(r[1]);
	fh_plan_free(leader);
	fh_plan_free(other);
	fh_client_close(client);
}

const struct driver_test run_tests[] = {
	DRIVER_TEST(cancel_a_run),
	DRIVER_TEST(a_large_plan_runs_like_a_small_one),
	DRIVER_TEST(many_threads_share_a_client),
	DRIVER_TEST(stdin_is_streamed_into_a_run),
	DRIVER_TEST(an_engine_killed_in_the_middle),
	DRIVER_TEST(a_group_of_two),
	DRIVER_TEST(a_group_that_is_led_or_cancelled),
	{ NULL, NULL },
};
