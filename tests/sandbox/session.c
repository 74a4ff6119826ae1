/* SPDX-License-Identifier: MIT */
/*
 * Sessions with a real engine, as a program of libfumehood has them. test_session.py runs each of these by name, over
 * a socket pair and over pipes through a shell:
 *
 *     session-driver PLACEMENT NAME      0: as it should be; otherwise what is not, on stderr
 *     session-driver --list              all names
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fumehood/sandbox.h"

static const char *placement;

static void fail(int line, const char *what, const struct fh_error *err)
{
	fprintf(stderr, "session.c:%d: %s\n", line, what);
	if (err && err->code)
		fprintf(stderr, "  %s: %s\n", fh_code_name(err->code), err->message);
	exit(1);
}

static struct fh_error err;
#define CHECK(x) ((x) ? (void)0 : fail(__LINE__, #x, &err))
#define OK(call) CHECK((call) == 0)

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(double s)
{
	struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
	nanosleep(&t, NULL);
}

static struct fh_client *open_client(void)
{
	/* The shell says something first, as a login does. */
	static const char *const command[] = { "sh", "-c", "echo Welcome to this host; exec \"$FUMEHOOD_ENGINE\"", NULL };
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	struct fh_client *client;
	o.placement = placement;
	o.command = command;
	OK(fh_client_open(&o, &client, &err));
	return client;
}

static struct fh_plan *shell_plan(const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_request r;
	struct fh_plan *plan;
	fh_request_init(&r);
	r.argv = argv;
	OK(fh_plan_build(&r, &plan, &err));
	return plan;
}

static struct fh_sandbox *create(struct fh_client *client, uint64_t lease_ms)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_plan *plan = shell_plan("exit 99");
	struct fh_sandbox *s;
	o.lease_ms = lease_ms;
	OK(fh_sandbox_create(client, plan, &o, &s, &err));
	fh_plan_free(plan);
	return s;
}

static struct fh_process *spawn(struct fh_sandbox *s, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	o.argv = argv;
	OK(fh_process_spawn(s, &o, &p, &err));
	return p;
}

/* Reads until `text` was seen (or the end, when text is NULL); what came stays in buf. */
static size_t read_until(struct fh_process *p, enum fh_stream stream, const char *text, char *buf, size_t size)
{
	size_t n = 0;
	for (;;) {
		CHECK(n + 1 < size);
		ssize_t r = fh_process_read(p, stream, buf + n, size - 1 - n, 20000, &err);
		CHECK(r >= 0);
		n += (size_t)r;
		buf[n] = 0;
		if (r == 0 || (text && strstr(buf, text)))
			break;
	}
	if (text && !strstr(buf, text)) {
		fprintf(stderr, "wanted \"%s\", got \"%s\"\n", text, buf);
		exit(1);
	}
	return n;
}

static struct fh_exit wait_for(struct fh_process *p)
{
	struct fh_exit e;
	OK(fh_process_wait(p, 20000, &e, &err));
	return e;
}

/* ----------------------------------------------------------------------------------------------------------- tests */

static void two_processes_in_one_sandbox(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char buf[4096];
	struct fh_exit e;
	struct fh_process *background = spawn(s, "while read line; do echo got $line; done; cat note; exit 5");
	struct fh_process *other = spawn(s, "echo written by the other > note; echo out; echo err >&2; exit 3");
	read_until(other, FH_STDOUT, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "out\n") == 0);
	read_until(other, FH_STDERR, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "err\n") == 0);
	e = wait_for(other);
	CHECK(e.status == FH_STATUS_RUNTIME_ERROR && e.exit_code == 3 && e.signal == 0);
	CHECK(fh_process_wait(background, 0, &e, &err) == -FH_E_TIMEOUT); /* it runs on */
	OK(fh_process_write(background, "late\n", 5, &err));
	read_until(background, FH_STDOUT, "got late\n", buf, sizeof(buf));
	OK(fh_process_close_stdin(background, &err));
	read_until(background, FH_STDOUT, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "written by the other\n") == 0); /* one file system */
	CHECK(wait_for(background).exit_code == 5);
	CHECK(wait_for(other).exit_code == 3); /* the record is kept */
	fh_process_free(background);
	fh_process_free(other);
	OK(fh_sandbox_destroy(s, &err));
	CHECK(fh_sandbox_destroy(s, &err) == -FH_E_NOT_FOUND);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_terminal_and_its_size(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	const char *const argv[] = { "/bin/sh", NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p;
	char buf[65536];
	o.argv = argv;
	o.pty = true;
	o.rows = 30;
	o.columns = 100;
	OK(fh_process_spawn(s, &o, &p, &err));
	OK(fh_process_write(p, "stty -echo; test -t 0 && echo a ter''minal; stty size\n", 55, &err));
	read_until(p, FH_STDOUT, "a terminal", buf, sizeof(buf));
	if (!strstr(buf, "30 100"))
		read_until(p, FH_STDOUT, "30 100", buf, sizeof(buf));
	OK(fh_process_resize(p, 51, 132, &err));
	OK(fh_process_write(p, "stty size\n", 10, &err));
	read_until(p, FH_STDOUT, "51 132", buf, sizeof(buf));
	CHECK(fh_process_read(p, FH_STDERR, buf, 1, 0, &err) == 0); /* a terminal has one output */
	OK(fh_process_write(p, "exit 4\n", 7, &err));
	CHECK(wait_for(p).exit_code == 4);
	fh_process_free(p);
	p = spawn(s, "exit 0");
	CHECK(wait_for(p).exit_code == 0);
	CHECK(fh_process_resize(p, 1, 1, &err) < 0); /* without a terminal */
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_signal(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	char buf[256];
	struct fh_process *p = spawn(s, "trap 'echo caught; exit 7' USR1; echo ready; while :; do sleep 0.05; done");
	struct fh_process *q = spawn(s, "echo ready; exec sleep 60");
	read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
	read_until(q, FH_STDOUT, "ready\n", buf, sizeof(buf));
	OK(fh_process_signal(p, SIGUSR1, &err));
	read_until(p, FH_STDOUT, "caught\n", buf, sizeof(buf));
	CHECK(wait_for(p).exit_code == 7);
	OK(fh_process_signal(q, SIGTERM, &err));
	struct fh_exit e = wait_for(q);
	CHECK(e.signal == SIGTERM && e.exit_code == -1 && e.status == FH_STATUS_RUNTIME_ERROR);
	CHECK(fh_process_signal(q, SIGTERM, &err) == -FH_E_NOT_FOUND);
	fh_process_free(p);
	fh_process_free(q);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void a_slow_reader_stalls_only_its_own_stream(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	const char *const argv[] = { "/bin/sh", "-c", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
		                         NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *flood, *errors, *quick;
	static char buf[1 << 20];
	o.argv = argv;
	o.output_bytes = FH_UNLIMITED;
	OK(fh_process_spawn(s, &o, &flood, &err));
	nap(0.3); /* it fills its window, and nobody reads */
	quick = spawn(s, "i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done");
	read_until(quick, FH_STDOUT, "499\n", buf, sizeof(buf));
	CHECK(wait_for(quick).exit_code == 0);
	/* of one process, too: stderr flows while stdout is full */
	errors = spawn(
	    s, "(while :; do echo bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb; done) & sleep 0.3; echo note >&2; wait");
	read_until(errors, FH_STDERR, "note\n", buf, sizeof(buf));
	/* and what was stalled goes on once it is read: more than any window */
	size_t n = 0;
	while (n < 8 << 20) {
		ssize_t r = fh_process_read(flood, FH_STDOUT, buf, sizeof(buf), 20000, &err);
		CHECK(r > 0);
		n += (size_t)r;
	}
	OK(fh_process_signal(flood, SIGKILL, &err));
	CHECK(wait_for(flood).signal == SIGKILL);
	fh_process_free(flood);
	fh_process_free(errors);
	fh_process_free(quick);
	OK(fh_sandbox_destroy(s, &err));
	fh_sandbox_free(s);
	fh_client_close(client);
}

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
	CHECK(now() - t < 10);
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

static const struct fh_sandbox_info *find(const struct fh_sandbox_info *all, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].id, id) == 0)
			return &all[i];
	return NULL;
}

static bool is_listed(const char *id, pid_t *ret_engine)
{
	struct fh_sandbox_info *all;
	size_t n;
	OK(fh_list(&all, &n, &err));
	const struct fh_sandbox_info *s = find(all, n, id);
	if (s && ret_engine)
		*ret_engine = s->engine_pid;
	bool listed = s != NULL;
	free(all);
	return listed;
}

static struct fh_client *open_second(const char *sandbox)
{
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	struct fh_client *client;
	o.placement = "attach";
	CHECK(is_listed(sandbox, &o.engine_pid));
	OK(fh_client_open(&o, &client, &err));
	return client;
}

static void a_second_client_reads_on(void)
{
	struct fh_client *first = open_client();
	struct fh_sandbox *s = create(first, 30000);
	char id[FH_ID_HEX], process[FH_ID_HEX], buf[4096];
	struct fh_process *p = spawn(s, "echo one; echo two; read x; echo three $x; read x; exit 6");
	CHECK(fh_process_read(p, FH_STDOUT, buf, 4, 20000, &err) == 4 && memcmp(buf, "one\n", 4) == 0);
	strcpy(id, fh_sandbox_id(s));
	strcpy(process, fh_process_id(p));
	struct fh_client *second = open_second(id);
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(first); /* the sandbox has a lease: it lives on */
	OK(fh_sandbox_attach(second, id, &s, &err));
	OK(fh_process_attach(second, process, &p, &err));
	read_until(p, FH_STDOUT, "two\n", buf, sizeof(buf));
	CHECK(strcmp(buf, "two\n") == 0); /* what the first one read does not come again, and nothing is lost */
	OK(fh_process_write(p, "times\n", 6, &err));
	read_until(p, FH_STDOUT, "three times\n", buf, sizeof(buf));
	OK(fh_process_close_stdin(p, &err));
	CHECK(wait_for(p).exit_code == 6);
	struct fh_process *q = spawn(s, "echo new");
	read_until(q, FH_STDOUT, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "new\n") == 0);
	OK(fh_sandbox_destroy(s, &err));
	CHECK(!is_listed(id, NULL));
	fh_process_free(p);
	fh_process_free(q);
	fh_sandbox_free(s);
	fh_client_close(second);
}

/* A bound of the project's statement times ten. */
static bool gone_within(const char *id, double seconds)
{
	double t = now();
	while (is_listed(id, NULL))
		if (now() - t > seconds)
			return false;
	return true;
}

static void a_client_killed_in_the_middle(void)
{
	char ids[2][FH_ID_HEX];
	int pipes[2];
	CHECK(pipe(pipes) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct fh_client *client = open_client();
		struct fh_sandbox *bound = create(client, 0), *leased = create(client, 60000);
		(void)spawn(bound, "sleep 60");
		(void)spawn(leased, "sleep 60");
		CHECK(write(pipes[1], fh_sandbox_id(bound), FH_ID_HEX) == FH_ID_HEX);
		CHECK(write(pipes[1], fh_sandbox_id(leased), FH_ID_HEX) == FH_ID_HEX);
		for (;;)
			pause();
	}
	close(pipes[1]);
	for (int i = 0; i < 2; i++)
		CHECK(read(pipes[0], ids[i], FH_ID_HEX) == FH_ID_HEX);
	CHECK(is_listed(ids[0], NULL) && is_listed(ids[1], NULL));
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(gone_within(ids[0], 1.0));
	CHECK(is_listed(ids[1], NULL)); /* its lease outlives the client */
	char prefix[9];
	snprintf(prefix, sizeof(prefix), "%.8s", ids[1]);
	OK(fh_kill(prefix, &err));
	CHECK(gone_within(ids[1], 1.0));
	CHECK(fh_kill(prefix, &err) == -FH_E_NOT_FOUND);
}

static void a_lease_runs_out_or_is_renewed(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *a = create(client, 500), *b = create(client, 500);
	OK(fh_sandbox_renew(b, 60000, &err));
	nap(0.7);
	CHECK(gone_within(fh_sandbox_id(a), 5));
	CHECK(is_listed(fh_sandbox_id(b), NULL));
	OK(fh_sandbox_renew(b, 0, &err)); /* bound to its client again */
	char id[FH_ID_HEX];
	strcpy(id, fh_sandbox_id(b));
	fh_sandbox_free(a);
	fh_sandbox_free(b);
	fh_client_close(client);
	CHECK(gone_within(id, 1.0));
}

static void files_in_and_out(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	size_t n, big_size = (20 << 20) + 3;
	uint8_t *data, *big = calloc(1, big_size);
	char buf[256];
	struct fh_file small = { .name = "folder/script", .content = { "#!/bin/sh\necho ran\n", 19 }, .mode = 0755 };
	struct fh_file large = { .name = "large", .content = { big, big_size } };
	CHECK(big != NULL);
	memcpy(big + big_size - 3, "end", 3);
	OK(fh_sandbox_put_file(s, &small, &err));
	struct fh_process *p = spawn(s, "folder/script; ln -s /etc/passwd link; mkdir d; echo hi > d/f");
	read_until(p, FH_STDOUT, NULL, buf, sizeof(buf));
	CHECK(strcmp(buf, "ran\n") == 0);
	CHECK(wait_for(p).exit_code == 0);
	fh_process_free(p);
	OK(fh_sandbox_put_file(s, &large, &err)); /* more than a frame holds */
	OK(fh_sandbox_get_file(s, "large", 64 << 20, &data, &n, &err));
	CHECK(n == big_size && memcmp(data, big, n) == 0);
	free(data);
	OK(fh_sandbox_get_file(s, "d/f", 100, &data, &n, &err));
	CHECK(n == 3 && memcmp(data, "hi\n", 3) == 0);
	free(data);
	CHECK(fh_sandbox_get_file(s, "large", 1000, &data, &n, &err) == -FH_E_LIMIT);
	CHECK(fh_sandbox_get_file(s, "nothing", 1000, &data, &n, &err) == -FH_E_NOT_FOUND);
	CHECK(fh_sandbox_get_file(s, "link", 1 << 20, &data, &n, &err) < 0);
	CHECK(fh_sandbox_get_file(s, "d", 1000, &data, &n, &err) < 0);
	free(big);
	fh_sandbox_free(s);
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
			fail(__LINE__, "fh_run", &e);
		if (result->exit_code != i || strcmp((char *)result->stream_data[FH_STDOUT], expected) != 0)
			fail(__LINE__, "the result is another run's", &result->error);
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

/* Writing to a program that does not read, or is gone, ends; it does not wait for ever. */
static void input_that_nobody_reads(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	static char megabyte[1 << 20];
	struct fh_process *p = spawn(s, "sleep 0.3");
	int r = fh_process_write(p, megabyte, sizeof(megabyte), &err); /* it ends while we write */
	CHECK(r == 0 || r == -FH_E_NOT_FOUND);
	CHECK(wait_for(p).exit_code == 0);
	r = fh_process_write(p, megabyte, sizeof(megabyte), &err);
	CHECK(r == 0 || r == -FH_E_NOT_FOUND);
	fh_process_free(p);
	p = spawn(s, "exec <&-; sleep 0.5; exit 2");
	r = fh_process_write(p, megabyte, sizeof(megabyte), &err);
	CHECK(r == 0 || r == -FH_E_NOT_FOUND);
	CHECK(wait_for(p).exit_code == 2);
	fh_process_free(p);
	fh_sandbox_free(s);
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
	for (int i = 0; i < 500 && !is_alive(mark); i++)
		nap(0.02);
	CHECK(is_alive(mark));
	kill(engine, SIGKILL);
	double t = now();
	for (int i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		CHECK(w[i].result == -FH_E_SYSTEM && w[i].err.retryable);
		if (!strstr(w[i].err.message, "killed by signal 9"))
			fail(__LINE__, "the error does not say that the engine was killed", &w[i].err);
	}
	while (is_alive(mark))
		CHECK(now() - t < 1.0);
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

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
#define TEST(name)                                                                                                     \
	{                                                                                                                  \
#name, name                                                                                                    \
	}
	TEST(two_processes_in_one_sandbox),
	TEST(a_terminal_and_its_size),
	TEST(a_signal),
	TEST(a_slow_reader_stalls_only_its_own_stream),
	TEST(cancel_a_run),
	TEST(a_group_of_two),
	TEST(a_group_that_is_led_or_cancelled),
	TEST(a_second_client_reads_on),
	TEST(a_client_killed_in_the_middle),
	TEST(an_engine_killed_in_the_middle),
	TEST(a_lease_runs_out_or_is_renewed),
	TEST(files_in_and_out),
	TEST(a_large_plan_runs_like_a_small_one),
	TEST(many_threads_share_a_client),
	TEST(input_that_nobody_reads),
	TEST(stdin_is_streamed_into_a_run),
};

int main(int argc, char **argv)
{
	const size_t count = sizeof(tests) / sizeof(tests[0]);
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < count; i++)
			puts(tests[i].name);
		return 0;
	}
	placement = argc == 3 ? argv[1] : NULL;
	for (size_t i = 0; placement && i < count; i++) {
		if (strcmp(tests[i].name, argv[2]) == 0) {
			tests[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: session-driver PLACEMENT NAME | --list\n");
	return 2;
}
