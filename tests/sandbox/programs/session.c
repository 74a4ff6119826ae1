/* SPDX-License-Identifier: MIT */
/* Sessions: processes beside each other, a second client, leases, files. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

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
		ssize_t r = fh_process_read(flood, FH_STDOUT, buf, sizeof(buf), PATIENCE_MS, &err);
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
	CHECK(fh_process_read(p, FH_STDOUT, buf, 4, PATIENCE_MS, &err) == 4 && memcmp(buf, "one\n", 4) == 0);
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

static bool gone_within(const char *id, double stated)
{
	double t = now();
	while (is_listed(id, NULL))
		if (now() - t > bound(stated))
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
	CHECK(gone_within(ids[0], 0.1));
	CHECK(is_listed(ids[1], NULL)); /* its lease outlives the client */
	char prefix[9];
	snprintf(prefix, sizeof(prefix), "%.8s", ids[1]);
	OK(fh_kill(prefix, &err));
	CHECK(gone_within(ids[1], 0.1));
	CHECK(fh_kill(prefix, &err) == -FH_E_NOT_FOUND);
}

static void a_lease_runs_out_or_is_renewed(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *a = create(client, 500), *b;
	double renewed;
	for (;;) { /* on a busy machine it may have run out before it could be renewed */
		b = create(client, 500);
		renewed = now();
		if (fh_sandbox_renew(b, 60000, &err) == 0)
			break;
		CHECK(err.code == FH_E_NOT_FOUND);
		fh_sandbox_free(b);
	}
	while (now() < renewed + 0.7)
		nap(0.1);
	CHECK(gone_within(fh_sandbox_id(a), 1));
	CHECK(is_listed(fh_sandbox_id(b), NULL));
	OK(fh_sandbox_renew(b, 0, &err)); /* bound to its client again */
	char id[FH_ID_HEX];
	strcpy(id, fh_sandbox_id(b));
	fh_sandbox_free(a);
	fh_sandbox_free(b);
	fh_client_close(client);
	CHECK(gone_within(id, 0.1));
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

/* A program can stop whoever runs as its user, one that is about to be executed too: that may fail, and does not hang.
 */
static void who_stops_everybody_keeps_nobody_waiting(void)
{
	enum { TRIES = 4 }; /* each may take a second or two, and the stopper has ten seconds of CPU time */
	static const char *const argv[] = { "/bin/true", NULL };
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	char buf[64];
	struct fh_process *stopper = spawn(s, "echo ready; while :; do kill -STOP -1; done 2>/dev/null"), *p;
	read_until(stopper, FH_STDOUT, "ready\n", buf, sizeof(buf));
	o.argv = argv;
	for (int i = 0; i < TRIES; i++)
		if (fh_process_spawn(s, &o, &p, &err) == 0)
			fh_process_free(p);
	OK(fh_process_signal(stopper, SIGKILL, &err));
	CHECK(wait_for(stopper).signal == SIGKILL);
	p = spawn(s, "exit 6");
	CHECK(wait_for(p).exit_code == 6);
	fh_process_free(p);
	fh_process_free(stopper);
	fh_sandbox_free(s);
	fh_client_close(client);
}

const struct driver_test session_tests[] = {
	DRIVER_TEST(two_processes_in_one_sandbox),
	DRIVER_TEST(a_terminal_and_its_size),
	DRIVER_TEST(a_signal),
	DRIVER_TEST(a_slow_reader_stalls_only_its_own_stream),
	DRIVER_TEST(a_second_client_reads_on),
	DRIVER_TEST(a_client_killed_in_the_middle),
	DRIVER_TEST(a_lease_runs_out_or_is_renewed),
	DRIVER_TEST(files_in_and_out),
	DRIVER_TEST(input_that_nobody_reads),
	DRIVER_TEST(who_stops_everybody_keeps_nobody_waiting),
	{ NULL, NULL },
};
