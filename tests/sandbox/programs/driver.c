/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct fh_error err;
static const char *placement;

_Noreturn void fail(const char *file, int line, const char *what, const struct fh_error *why)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	if (why->code)
		fprintf(stderr, "  %s: %s\n", fh_code_name(why->code), why->message);
	exit(1);
}

double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void nap(double s)
{
	struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };
	nanosleep(&t, NULL);
}

double bound(double s)
{
	double load = 0;
	if (getloadavg(&load, 1) == 1)
		load /= (double)sysconf(_SC_NPROCESSORS_ONLN);
	return s * 10 * (load > 1 ? load : 1);
}

struct fh_client *open_client(void)
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

struct fh_plan *shell_plan(const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_request r;
	struct fh_plan *plan;
	fh_request_init(&r);
	r.argv = argv;
	OK(fh_plan_build(&r, &plan, &err));
	return plan;
}

struct fh_sandbox *create(struct fh_client *client, uint64_t lease_ms)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_plan *plan = shell_plan("exit 99");
	struct fh_sandbox *s;
	o.lease_ms = lease_ms;
	OK(fh_sandbox_create(client, plan, &o, &s, &err));
	fh_plan_free(plan);
	return s;
}

struct fh_process *spawn_with(struct fh_sandbox *s, const struct fh_spawn_options *options, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_spawn_options o = *options;
	struct fh_process *p;
	o.argv = argv;
	OK(fh_process_spawn(s, &o, &p, &err));
	return p;
}

struct fh_process *spawn(struct fh_sandbox *s, const char *script)
{
	struct fh_spawn_options o = FH_SPAWN_OPTIONS_INIT;
	return spawn_with(s, &o, script);
}

/* Reads until `text` was seen (or the end, when text is NULL); what came stays in buf. */
size_t read_until(struct fh_process *p, enum fh_stream stream, const char *text, char *buf, size_t size)
{
	size_t n = 0;
	for (;;) {
		CHECK(n + 1 < size);
		ssize_t r = fh_process_read(p, stream, buf + n, size - 1 - n, PATIENCE_MS, &err);
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

struct fh_exit wait_for(struct fh_process *p)
{
	struct fh_exit e;
	OK(fh_process_wait(p, PATIENCE_MS, &e, &err));
	return e;
}

static const struct fh_sandbox_info *find(const struct fh_sandbox_info *all, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].id, id) == 0)
			return &all[i];
	return NULL;
}

void finish(struct fh_process *p, int exit_code)
{
	struct fh_exit e = wait_for(p);
	CHECK(e.exit_code == exit_code);
	fh_process_free(p);
}

bool is_listed(const char *id, pid_t *ret_engine)
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

int main(int argc, char **argv)
{
	static const struct driver_test *const tables[] = { session_tests, run_tests,  file_tests,
		                                                live_tests,    copy_tests, survey_tests };
	bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
	placement = argc == 3 ? argv[1] : NULL;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct driver_test *t = tables[i]; t->name; t++) {
			if (list) {
				puts(t->name);
			} else if (placement && strcmp(t->name, argv[2]) == 0) {
				t->run();
				return 0;
			}
		}
	}
	if (list)
		return 0;
	fprintf(stderr, "usage: session-driver PLACEMENT NAME | --list\n");
	return 2;
}
