/* SPDX-License-Identifier: MIT */
/* A session that lives: several programs with limits of their own, lists, users, ports. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "fumehood/session.h"

/* Whether a process of that number is there, as another program of the session sees it. */
static bool lives(struct fh_sandbox *s, const char *pid_file)
{
	char script[160];
	snprintf(script, sizeof(script), "kill -0 $(cat %s) 2>/dev/null", pid_file);
	struct fh_process *p = spawn(s, script);
	struct fh_exit e = wait_for(p);
	fh_process_free(p);
	return e.exit_code == 0;
}

/* A process that was killed is there until init has reaped it; one that was not sleeps for a minute. */
static bool is_gone(struct fh_sandbox *s, const char *pid_file)
{
	for (double until = now() + bound(3); now() < until; nap(0.02))
		if (!lives(s, pid_file))
			return true;
	return false;
}

static void a_limit_ends_one_command_and_says_which(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_process *bystander = spawn(s, "read line; exit 3");
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	static char sink[1 << 20];
	struct fh_exit e;
	o.wall_time_ms = 300;
	struct fh_process *p = spawn_with(s, &o, "sleep 60 & echo $! > child; wait");
	e = wait_for(p);
	CHECK(e.status == FH_STATUS_WALL_TIME_LIMIT && e.fired == 1u << FH_LIMIT_WALL_TIME && e.signal == SIGKILL);
	CHECK(is_gone(s, "child"));
	fh_process_free(p);
	o = (struct fh_spawn_options)FH_SPAWN_OPTIONS_INIT;
	o.cpu_time_ms = 200;
	p = spawn_with(s, &o, "while :; do :; done");
	e = wait_for(p);
	CHECK(e.status == FH_STATUS_CPU_TIME_LIMIT && e.usage.cpu_user_us + e.usage.cpu_sys_us >= 200000);
	fh_process_free(p);
	o = (struct fh_spawn_options)FH_SPAWN_OPTIONS_INIT;
	o.output_bytes = 1000;
	p = spawn_with(s, &o, "while :; do echo aaaaaaaaaaaaaaaaaaa; done");
	size_t n = 0;
	for (ssize_t r; (r = fh_process_read(p, FH_STDOUT, sink, sizeof(sink), PATIENCE_MS, &err)) > 0;)
		n += (size_t)r;
	CHECK(n == 1000);
	CHECK(wait_for(p).status == FH_STATUS_OUTPUT_LIMIT);
	fh_process_free(p);
	OK(fh_process_close_stdin(bystander, &err));
	finish(bystander, 3); /* it was there all the time */
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* What leaves its process group and its session goes with the command all the same, where control groups count. */
static void a_tree_is_killed_whole(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	char buf[64];
	struct fh_process *p = spawn(s, "sh -c 'sleep 60 & echo $! > group'; setsid sh -c 'sleep 60 & echo $! > session; "
	                                "wait' & setsid sh -c 'setsid sleep "
	                                "60 & echo $! > orphan'; echo ready; wait; sleep 60");
	read_until(p, FH_STDOUT, "ready\n", buf, sizeof(buf));
	while (!lives(s, "session") || !lives(s, "orphan")) /* written in the background */
		nap(0.02);
	OK(fh_process_kill_tree(p, &err));
	CHECK(wait_for(p).signal == SIGKILL);
	CHECK(is_gone(s, "group") && is_gone(s, "session"));
	fh_process_free(p);
	/* an orphan of another session: only a control group knows whose it is, which is so where memory of one command can
	 * be limited */
	o.memory_bytes = 64 << 20;
	const char *const argv[] = { "/bin/true", NULL };
	o.argv = argv;
	if (fh_process_spawn(s, &o, &p, &err) == 0) {
		CHECK(is_gone(s, "orphan"));
		fh_process_free(p);
	} else {
		CHECK(err.code == FH_E_UNAVAILABLE);
	}
	p = spawn(s, "exit 5");
	finish(p, 5);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void memory_of_one_command(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_process *bystander = spawn(s, "read line; exit 4"), *p;
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	const char *const argv[] = { "/bin/sh", "-c", "x=aaaaaaaa; while :; do x=$x$x; done", NULL };
	o.argv = argv;
	o.memory_bytes = 24 << 20;
	if (fh_process_spawn(s, &o, &p, &err) == 0) {
		struct fh_exit e = wait_for(p);
		CHECK(e.status == FH_STATUS_MEMORY_LIMIT && e.fired & 1u << FH_LIMIT_MEMORY);
		CHECK(e.usage.memory_peak_bytes <= 25 << 20);
		fh_process_free(p);
	} else {
		CHECK(err.code == FH_E_UNAVAILABLE); /* and is told, instead of a limit that is none */
	}
	OK(fh_process_close_stdin(bystander, &err));
	finish(bystander, 4);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void cpu_is_counted_for_each_command(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_sandbox_usage u;
	char buf[64];
	struct fh_process *busy = spawn(s, "echo ready; i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done");
	read_until(busy, FH_STDOUT, "ready\n", buf, sizeof(buf));
	struct fh_process *idle = spawn(s, "sleep 0.5");
	struct fh_exit a = wait_for(busy), b = wait_for(idle);
	uint64_t busy_us = a.usage.cpu_user_us + a.usage.cpu_sys_us, idle_us = b.usage.cpu_user_us + b.usage.cpu_sys_us;
	OK(fh_sandbox_usage(s, &u, &err));
	CHECK(busy_us > 20000 && u.cpus > 0 && u.age_ms > 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	o.memory_bytes = 64 << 20;
	const char *const argv[] = { "/bin/true", NULL };
	struct fh_process *p;
	o.argv = argv;
	if (fh_process_spawn(s, &o, &p, &err) == 0) { /* control groups count */
		CHECK(idle_us * 2 < busy_us);
		CHECK(u.cpu_user_us + u.cpu_sys_us >= busy_us + idle_us);
		CHECK(u.memory_bytes > 0 && u.memory_peak_bytes >= u.memory_bytes);
		fh_process_free(p);
	}
	fh_process_free(busy);
	fh_process_free(idle);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* A program's control group may be that of an earlier one: what that used and held is not the program's. */
static void a_command_is_charged_with_its_own_alone(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process *p = spawn(s, "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; "
	                                "head -c 600000 /dev/zero > kept");
	struct fh_exit busy = wait_for(p), e;
	fh_process_free(p);
	CHECK(busy.usage.cpu_user_us + busy.usage.cpu_sys_us > 10000);
	o.cpu_time_ms = 60000;
	for (int i = 0; i < 3; i++) {
		p = spawn_with(s, &o, "exit 7");
		e = wait_for(p);
		CHECK(e.exit_code == 7 && e.fired == 0);
		CHECK((e.usage.cpu_user_us + e.usage.cpu_sys_us) * 2 < busy.usage.cpu_user_us + busy.usage.cpu_sys_us);
		fh_process_free(p);
	}
	o = (struct fh_spawn_options)FH_SPAWN_OPTIONS_INIT;
	o.wall_time_ms = 300;
	p = spawn_with(s, &o, "sleep 60 & echo $! > child; wait"); /* and what it starts is found there */
	CHECK(wait_for(p).status == FH_STATUS_WALL_TIME_LIMIT);
	CHECK(is_gone(s, "child"));
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static int beat(struct fh_sandbox *s)
{
	char text[32] = "";
	struct fh_process *p = spawn(s, "cat beat");
	ssize_t n = fh_process_read(p, FH_STDOUT, text, sizeof(text) - 1, PATIENCE_MS, &err);
	fh_process_free(p);
	return n > 0 ? atoi(text) : 0;
}

/* Whether the chain of a_chain_of_forks_is_not_the_next_commands goes on; it may be looked at while it writes. */
static bool beats(struct fh_sandbox *s)
{
	int before = 0;
	for (double until = now() + bound(10); now() < until; nap(0.02)) {
		int seen = beat(s);
		if (before && seen > before)
			return true;
		before = seen > before ? seen : before;
	}
	return false;
}

/* Each process forks the next one and exits, so that none is ever seen twice. It keeps the control group of the command
 * that began it: what ends a later command does not end it, as it would if that had been given the group. */
static void a_chain_of_forks_is_not_the_next_commands(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_process *p;
	for (int i = 0; i < 3; i++) /* groups to be had again */
		finish(spawn(s, "exit 1"), 1);
	p = spawn(s, "f() { echo $1 > beat; sleep 0.002; f $(($1 + 1)) & exit 6; }; f 1");
	finish(p, 6);
	for (int i = 0; i < 5; i++) {
		p = spawn(s, "sleep 60");
		CHECK(beats(s));
		OK(fh_process_kill_tree(p, &err));
		CHECK(wait_for(p).signal == SIGKILL);
		fh_process_free(p);
		CHECK(beats(s));
	}
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* Ended processes are remembered for a while, but never so many that a new one has no room. */
static void an_agent_may_run_many_commands(void)
{
	enum { MANY = 2300, AT_A_TIME = 50 };
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	const char *const argv[] = { "/bin/true", NULL };
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process_info *all;
	size_t n;
	o.argv = argv;
	for (int done = 0; done < MANY; done += AT_A_TIME) {
		struct fh_process *p[AT_A_TIME];
		char buf[16];
		for (int i = 0; i < AT_A_TIME; i++)
			OK(fh_process_spawn(s, &o, &p[i], &err));
		for (int i = 0; i < AT_A_TIME; i++) {
			CHECK(fh_process_read(p[i], FH_STDOUT, buf, sizeof(buf), PATIENCE_MS, &err) == 0);
			CHECK(fh_process_read(p[i], FH_STDERR, buf, sizeof(buf), PATIENCE_MS, &err) == 0);
			finish(p[i], 0);
		}
	}
	OK(fh_sandbox_processes(s, &all, &n, &err));
	CHECK(n >= AT_A_TIME && n <= 1024 && all[n - 1].ended);
	free(all);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void processes_are_listed(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	struct fh_process_info *list;
	char buf[64];
	size_t n;
	static const char *const more[] = { "PATH=/usr/bin:/bin", "WORD=said", NULL };
	o.tag = "server";
	o.more_env = more;
	struct fh_process *first = spawn_with(
	                      s, &o,
	                      "test $WORD = said && test $PATH = /usr/bin:/bin && test $HOME && echo $$; read x; exit 9"),
	                  *second = spawn(s, "exit 2");
	read_until(first, FH_STDOUT, "\n", buf, sizeof(buf));
	CHECK((uint32_t)atoi(buf) == fh_process_pid(first));
	CHECK(wait_for(second).exit_code == 2);
	OK(fh_files_make_folder(s, NULL, "d", 0, false, &err)); /* a helper is in no list */
	OK(fh_sandbox_processes(s, &list, &n, &err));
	CHECK(n == 2);
	CHECK(strcmp(list[0].id, fh_process_id(first)) == 0 && strcmp(list[0].tag, "server") == 0 && !list[0].ended);
	CHECK(list[0].pid == fh_process_pid(first) && strstr(list[0].command, "read x"));
	CHECK(list[1].ended && list[1].exit.exit_code == 2 && list[1].exit.status == FH_STATUS_RUNTIME_ERROR);
	free(list);
	OK(fh_process_close_stdin(first, &err));
	CHECK(wait_for(first).exit_code == 9);
	fh_process_free(first);
	fh_process_free(second);
	fh_sandbox_free(s);
	fh_client_close(client);
}

static void users_of_commands_and_files(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 0);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	const char *const argv[] = { "/bin/sh", "-c", "id -u; touch /tmp/of-root; grep CapEff /proc/self/status", NULL };
	struct fh_process *p;
	char buf[256], *texts;
	struct fh_file_info info;
	o.argv = argv;
	o.user = "root";
	if (fh_process_spawn(s, &o, &p, &err) == 0) {
		read_until(p, FH_STDOUT, "CapEff:\t0000000000000000\n", buf, sizeof(buf));
		CHECK(strncmp(buf, "0\n", 2) == 0);
		finish(p, 0);
		OK(fh_files_stat(s, "user", "/tmp/of-root", 0, &info, &texts, &err));
		CHECK(info.uid == 0);
		free(texts);
		struct fh_file_changes c = FH_FILE_CHANGES_INIT;
		c.mode = 0600;
		CHECK(fh_files_change(s, "user", "/tmp/of-root", 0, &c, &err) < 0 && err.sys == EPERM);
		OK(fh_files_change(s, "root", "/tmp/of-root", 0, &c, &err));
		OK(fh_files_make_folder(s, "user", "/tmp/of-user", 0, false, &err));
		OK(fh_files_stat(s, "root", "/tmp/of-user", 0, &info, &texts, &err));
		CHECK(info.uid == 1000);
		free(texts);
	} else {
		CHECK(err.code == FH_E_UNAVAILABLE);
		CHECK(fh_files_stat(s, "root", "/tmp", 0, &info, &texts, &err) == -FH_E_UNAVAILABLE);
	}
	o.user = "nobody";
	CHECK(fh_process_spawn(s, &o, &p, &err) == -FH_E_ARGUMENT);
	fh_sandbox_free(s);
	fh_client_close(client);
}

/* Nobody reads: the process goes on, and who attaches late gets the newest output, whole from some byte on. */
static void unread_output_makes_room_where_that_is_asked_for(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox *s = create(client, 60000);
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	static char buf[1 << 20];
	char id[FH_ID_HEX], process[FH_ID_HEX];
	o.drop_unread = true;
	o.output_bytes = FH_UNLIMITED;
	struct fh_process *p =
	    spawn_with(s, &o, "i=0; while [ $i -lt 200000 ]; do echo $i; i=$((i+1)); done; : > done; read x");
	strcpy(id, fh_sandbox_id(s));
	strcpy(process, fh_process_id(p));
	struct fh_client_options c = FH_CLIENT_OPTIONS_INIT;
	struct fh_client *second;
	c.placement = "attach";
	CHECK(is_listed(id, &c.engine_pid));
	OK(fh_client_open(&c, &second, &err));
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(client);
	OK(fh_sandbox_attach(second, id, &s, &err));
	struct fh_file_info info;
	char *texts;
	while (fh_files_stat(s, NULL, "done", 0, &info, &texts, &err) < 0) { /* it is written though nobody reads */
		CHECK(err.code == FH_E_NOT_FOUND);
		nap(0.05);
	}
	free(texts);
	OK(fh_process_attach(second, process, &p, &err));
	size_t n = read_until(p, FH_STDOUT, "\n199999\n", buf, sizeof(buf));
	CHECK(n < 400000 && n > 1000);
	OK(fh_process_close_stdin(p, &err));
	(void)wait_for(p);
	OK(fh_sandbox_destroy(s, &err));
	fh_process_free(p);
	fh_sandbox_free(s);
	fh_client_close(second);
}

static void a_port_inside_is_a_stream(void)
{
	static const char server[] = "import socket,sys\n"
	                             "s=socket.socket(); s.bind(('127.0.0.1',8123)); s.listen(); print('up',flush=True)\n"
	                             "c,_=s.accept()\n"
	                             "data=b''\n"
	                             "while True:\n"
	                             "    d=c.recv(65536)\n"
	                             "    if not d: break\n"
	                             "    data+=d\n"
	                             "c.sendall(data[::-1]); c.close()\n";
	struct fh_client *client = open_client();
	const char *const argv[] = { "python3", "-c", server, NULL };
	struct fh_request r;
	struct fh_plan *plan;
	struct fh_sandbox *s, *other;
	struct fh_process *p, *port;
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	static char sent[700000], back[700001];
	char buf[64];
	fh_request_init(&r);
	r.language = "python";
	r.code = (struct fh_bytes){ "", 0 };
	OK(fh_plan_build(&r, &plan, &err));
	OK(fh_sandbox_create(client, plan, NULL, &s, &err));
	OK(fh_sandbox_create(client, plan, NULL, &other, &err));
	fh_plan_free(plan);
	CHECK(fh_sandbox_connect(s, 8123, &port, &err) == -FH_E_NOT_FOUND && err.sys == ECONNREFUSED);
	o.argv = argv;
	OK(fh_process_spawn(s, &o, &p, &err));
	read_until(p, FH_STDOUT, "up\n", buf, sizeof(buf));
	CHECK(fh_sandbox_connect(other, 8123, &port, &err) == -FH_E_NOT_FOUND); /* another session has its own network */
	OK(fh_sandbox_connect(s, 8123, &port, &err));
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i % 251);
	OK(fh_process_write(port, sent, sizeof(sent), &err));
	OK(fh_process_close_stdin(port, &err));
	size_t n = 0;
	for (ssize_t got; (got = fh_process_read(port, FH_STDOUT, back + n, sizeof(back) - n, PATIENCE_MS, &err)) > 0;)
		n += (size_t)got;
	CHECK(n == sizeof(sent));
	for (size_t i = 0; i < n; i++)
		CHECK(back[i] == sent[n - 1 - i]);
	fh_process_free(port);
	finish(p, 0);
	fh_sandbox_free(s);
	fh_sandbox_free(other);
	fh_client_close(client);
}

static void a_name_and_a_plan(void)
{
	struct fh_client *client = open_client();
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_plan *plan = shell_plan("exit 99"), *said;
	struct fh_sandbox *s;
	struct fh_sandbox_info *all;
	size_t n, seen = 0;
	char *a, *b;
	o.name = "my session";
	o.lease_ms = 60000;
	OK(fh_sandbox_create(client, plan, &o, &s, &err));
	OK(fh_list(&all, &n, &err));
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].id, fh_sandbox_id(s)) == 0)
			seen +=
			    strcmp(all[i].name, "my session") == 0 && all[i].session && !all[i].paused && all[i].lease_left_ms > 0;
	free(all);
	CHECK(seen == 1);
	OK(fh_sandbox_plan(s, &said, &err));
	OK(fh_plan_to_json(plan, &a, &err));
	OK(fh_plan_to_json(said, &b, &err));
	CHECK(strcmp(a, b) == 0);
	free(a);
	free(b);
	fh_plan_free(said);
	fh_plan_free(plan);
	OK(fh_sandbox_destroy(s, &err));
	fh_sandbox_free(s);
	fh_client_close(client);
}

const struct driver_test live_tests[] = {
	DRIVER_TEST(a_limit_ends_one_command_and_says_which),
	DRIVER_TEST(a_tree_is_killed_whole),
	DRIVER_TEST(memory_of_one_command),
	DRIVER_TEST(cpu_is_counted_for_each_command),
	DRIVER_TEST(a_command_is_charged_with_its_own_alone),
	DRIVER_TEST(a_chain_of_forks_is_not_the_next_commands),
	DRIVER_TEST(an_agent_may_run_many_commands),
	DRIVER_TEST(processes_are_listed),
	DRIVER_TEST(users_of_commands_and_files),
	DRIVER_TEST(unread_output_makes_room_where_that_is_asked_for),
	DRIVER_TEST(a_port_inside_is_a_stream),
	DRIVER_TEST(a_name_and_a_plan),
	{ NULL, NULL },
};
