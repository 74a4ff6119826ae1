/* SPDX-License-Identifier: MIT */
/*
 * Many runs, at the same time, over one engine, as a program of libfumehood has them: what the abuse suite drives.
 *
 *     abuse-driver fresh|session|service
 *
 * One request a line on stdin, one answer a line on stdout, in the order in which runs end:
 *
 *     {"id": 1, "plan": "FILE", "get_while": ["NAME"…], "put_after": "NAME"}
 *     {"id": 1, "result": {what `fumehood run --json` prints}, "outs": {"NAME": "base64"…}, "gets": {…}}
 *     {"id": 1, "failed": "CODE: MESSAGE"}              the run did not take place
 *
 * The path "fresh" is a RUN: created, run and destroyed by one message. "session" is CREATE, SPAWN, WAIT, GET, DESTROY:
 * there, files that `get_while` names are fetched again and again while the program runs, and `put_after` is a file
 * that is put in when the program has ended; "gets" and "put" say what came of it. "service" is a RUN to the engine
 * that `fumehood engine start` has started, and an error where none answers.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/error.h"
#include "base/fd.h"
#include "fumehood/sandbox.h"
#include "proto/plan.h"
#include "sandbox/connection/result.h"

enum { LINE_MAX_BYTES = 64 << 10, GETS_MAX = 100000 };

static struct fh_client *client;
static bool by_session;
static pthread_mutex_t say_lock = PTHREAD_MUTEX_INITIALIZER;

struct job {
	json_t *request, *answer;
	struct fh_plan *plan;
	struct fh_sandbox *sandbox;
	struct fh_process *process;
	const char *name; /* of get_while */
	volatile int ended;
	uint64_t got, refused, bytes;
	char last[sizeof(((struct fh_error *)0)->message)];
	uint8_t *kept; /* the largest of what came back */
	size_t kept_size;
};

static void say(json_t *answer)
{
	char *text = json_dumps(answer, JSON_COMPACT);
	pthread_mutex_lock(&say_lock);
	puts(text);
	fflush(stdout);
	pthread_mutex_unlock(&say_lock);
	free(text);
}

static void put_bytes(json_t *o, const char *name, const void *data, size_t size)
{
	fh_auto_buf struct fh_buf b = FH_BUF_INIT(0);
	fh_base64_encode(&b, (struct fh_str){ data, size });
	json_object_set_new(o, name, json_string(fh_buf_cstr(&b)));
}

static void put_result(struct job *j, const struct fh_result *r)
{
	char *text = fh_result_json(r, 0);
	json_object_set_new(j->answer, "result", json_loads(text, JSON_ALLOW_NUL, NULL));
	free(text);
	json_t *outs = json_object();
	for (size_t i = 0; i < r->out_count; i++)
		if (!r->outs[i].refused)
			put_bytes(outs, r->outs[i].name, r->outs[i].data, r->outs[i].size);
	json_object_set_new(j->answer, "outs", outs);
}

/* ---------------------------------------------------------------------------------------------------------- session */

struct reader {
	pthread_t thread;
	struct fh_process *process;
	enum fh_stream stream;
	struct fh_buf bytes;
};

static void *read_stream(void *arg)
{
	struct reader *r = arg;
	static const size_t CHUNK = 64 << 10;
	char *chunk = fh_xcalloc(1, CHUNK);
	struct fh_error err = FH_ERROR_INIT;
	ssize_t n;
	while ((n = fh_process_read(r->process, r->stream, chunk, CHUNK, -1, &err)) > 0)
		(void)fh_buf_add(&r->bytes, chunk, (size_t)n);
	free(chunk);
	return NULL;
}

static void *write_stdin(void *arg)
{
	struct job *j = arg;
	struct fh_error err = FH_ERROR_INIT;
	(void)fh_process_write(j->process, j->plan->stdin_data.data, j->plan->stdin_data.size, &err);
	(void)fh_process_close_stdin(j->process, &err);
	return NULL;
}

static void *get_again_and_again(void *arg)
{
	struct job *j = arg;
	while (!__atomic_load_n(&j->ended, __ATOMIC_ACQUIRE) && j->got + j->refused < GETS_MAX) {
		struct fh_error err = FH_ERROR_INIT;
		uint8_t *data;
		size_t size;
		if (fh_sandbox_get_file(j->sandbox, j->name, 1 << 20, &data, &size, &err) < 0) {
			j->refused++;
			memcpy(j->last, err.message, sizeof(j->last));
			continue;
		}
		j->got++;
		j->bytes += size;
		if (size >= j->kept_size) {
			free(j->kept);
			j->kept = data;
			j->kept_size = size;
		} else {
			free(data);
		}
	}
	return NULL;
}

static void fetch_outs(struct job *j, struct fh_result *r)
{
	size_t n = 0;
	while (j->plan->outs[n])
		n++;
	r->outs = fh_xcalloc(n + 1, sizeof(*r->outs));
	for (size_t i = 0; i < n; i++) {
		struct fh_out_file *f = &r->outs[r->out_count++];
		struct fh_error err = FH_ERROR_INIT;
		f->name = fh_xstrdup(j->plan->outs[i]);
		if (fh_sandbox_get_file(j->sandbox, f->name, j->plan->out_max_bytes, &f->data, &f->size, &err) < 0)
			f->refused = fh_xstrdup(err.message);
	}
}

static void put_after(struct job *j, const char *name)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file file = { .name = name, .content = { "PUT\n", 4 } };
	int r = fh_sandbox_put_file(j->sandbox, &file, &err);
	json_object_set_new(j->answer, "put", json_string(r < 0 ? err.message : "ok"));
}

static void put_gets(struct job *j)
{
	json_t *o = json_object();
	json_object_set_new(o, "got", json_integer((json_int_t)j->got));
	json_object_set_new(o, "refused", json_integer((json_int_t)j->refused));
	json_object_set_new(o, "bytes", json_integer((json_int_t)j->bytes));
	json_object_set_new(o, "why", json_string(j->last));
	put_bytes(o, "largest", j->kept, j->kept_size);
	json_object_set_new(j->answer, "gets", o);
	free(j->kept);
}

static int run_session(struct job *j, struct fh_error *err)
{
	struct fh_sandbox_options o = FH_SANDBOX_OPTIONS_INIT;
	struct fh_spawn_options spawn = FH_SPAWN_OPTIONS_INIT;
	struct reader readers[2] = { { .stream = FH_STDOUT, .bytes = FH_BUF_INIT(256 << 20) },
		                         { .stream = FH_STDERR, .bytes = FH_BUF_INIT(256 << 20) } };
	struct fh_exit e;
	pthread_t getter, writer;
	bool input = j->plan->stdin_data.size > 0;
	int r = fh_sandbox_create(client, j->plan, &o, &j->sandbox, err);
	if (r < 0)
		return r;
	spawn.no_stdin = !input;
	r = fh_process_spawn(j->sandbox, &spawn, &j->process, err);
	if (r < 0) {
		{
			struct fh_error ignored = FH_ERROR_INIT;
			(void)fh_sandbox_destroy(j->sandbox, &ignored);
		}
		fh_sandbox_free(j->sandbox);
		return r;
	}
	for (int i = 0; i < 2; i++) {
		readers[i].process = j->process;
		pthread_create(&readers[i].thread, NULL, read_stream, &readers[i]);
	}
	if (input)
		pthread_create(&writer, NULL, write_stdin, j);
	if (j->name)
		pthread_create(&getter, NULL, get_again_and_again, j);
	r = fh_process_wait(j->process, -1, &e, err);
	__atomic_store_n(&j->ended, 1, __ATOMIC_RELEASE);
	if (j->name)
		pthread_join(getter, NULL);
	struct fh_result *result = fh_result_new(j->plan);
	result->start = fh_sandbox_start(j->sandbox, NULL);
	if (r == 0) {
		fh_result_set_exit(result, &e);
		fetch_outs(j, result);
		const char *name = json_string_value(json_object_get(j->request, "put_after"));
		if (name)
			put_after(j, name);
	}
	/* who still holds the streams open goes with the sandbox */
	struct fh_error ignored = FH_ERROR_INIT;
	(void)fh_sandbox_destroy(j->sandbox, &ignored);
	for (int i = 0; i < 2; i++) {
		pthread_join(readers[i].thread, NULL);
		fh_result_set_stream(result, readers[i].stream, &readers[i].bytes, false);
	}
	if (input)
		pthread_join(writer, NULL);
	if (r == 0)
		put_result(j, result);
	if (j->name)
		put_gets(j);
	fh_result_free(result);
	fh_process_free(j->process);
	fh_sandbox_free(j->sandbox);
	return r;
}

/* ----------------------------------------------------------------------------------------------------------- runs */

static int run_fresh(struct job *j, struct fh_error *err)
{
	struct fh_result *result;
	int r = fh_run(client, j->plan, NULL, &result, err);
	if (r < 0)
		return r;
	put_result(j, result);
	fh_result_free(result);
	return 0;
}

static int load_plan(struct job *j, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(256 << 20);
	const char *file = json_string_value(json_object_get(j->request, "plan"));
	int r = file ? fh_file_read(file, &text, err) : fh_error_set(err, FH_E_ARGUMENT, "a request without a plan");
	return r < 0 ? r : fh_plan_from_json(text.p, text.n, file, &j->plan, err);
}

static void *serve(void *arg)
{
	struct job *j = arg;
	struct fh_error err = FH_ERROR_INIT;
	j->answer = json_object();
	json_object_set(j->answer, "id", json_object_get(j->request, "id"));
	j->name = json_string_value(json_object_get(j->request, "get_while"));
	int r = load_plan(j, &err);
	if (r == 0)
		r = by_session ? run_session(j, &err) : run_fresh(j, &err);
	if (r < 0) {
		fh_auto_free char *what = fh_xasprintf("%s: %s", fh_code_name(err.code), err.message);
		json_object_set_new(j->answer, "failed", json_string(what));
	}
	say(j->answer);
	fh_plan_free(j->plan);
	json_decref(j->answer);
	json_decref(j->request);
	free(j);
	return NULL;
}

static const struct {
	const char *name, *placement;
	bool by_session;
} paths[] = { { "fresh", "local", false }, { "session", "local", true }, { "service", "service", false } };

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	char *line = NULL;
	size_t size = 0;
	size_t path = 0;
	while (path < FH_ARRAY_SIZE(paths) && (argc != 2 || strcmp(argv[1], paths[path].name) != 0))
		path++;
	if (path == FH_ARRAY_SIZE(paths)) {
		fprintf(stderr, "usage: abuse-driver fresh|session|service\n");
		return 2;
	}
	by_session = paths[path].by_session;
	o.placement = paths[path].placement;
	if (fh_client_open(&o, &client, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	while (getline(&line, &size, stdin) > 0) {
		struct job *j = FH_NEW(struct job);
		pthread_attr_t detached;
		pthread_t thread;
		j->request = json_loads(line, 0, NULL);
		pthread_attr_init(&detached);
		pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
		if (!j->request || pthread_create(&thread, &detached, serve, j) != 0) {
			fprintf(stderr, "abuse-driver: a request cannot be served: %s", line);
			return 1;
		}
		pthread_attr_destroy(&detached);
	}
	fh_client_close(client);
	return 0;
}
