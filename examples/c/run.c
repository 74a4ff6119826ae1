/* SPDX-License-Identifier: MIT */
/*
 * libfumehood in one page: a run, and a session.
 *
 *     cc run.c -o run $(pkg-config --cflags --libs libfumehood) && ./run
 */
#include <fumehood/sandbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An error is a plain value: nothing to free, nothing printed by the library. `message` says what, `hint` how to mend
 * it. */
static _Noreturn void give_up(const struct fh_error *err)
{
	fprintf(stderr, "%s\n", err->message);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	exit(1);
}

/* One run: code in, status and output out. Everything that the code may do wrong is a status; an error would mean that
 * it did not run at all. */
static void run_python(struct fh_client *client)
{
	static const char code[] = "print(sum(range(101)))";
	struct fh_error err = FH_ERROR_INIT;
	struct fh_request request;
	struct fh_result *result;
	struct fh_plan *plan;

	fh_request_init(&request);
	request.language = "python";
	request.code = (struct fh_bytes){ code, strlen(code) };
	request.limits.value[FH_LIMIT_CPU_TIME] = 5000;    /* ms */
	request.limits.value[FH_LIMIT_MEMORY] = 256 << 20; /* bytes */
	if (fh_plan_build(&request, &plan, &err) < 0)      /* the plan says what would be done; it may be used again */
		give_up(&err);
	if (fh_run(client, plan, NULL, &result, &err) < 0)
		give_up(&err);

	printf("status: %s\n", fh_status_name(result->status));
	if (result->status == FH_STATUS_ENGINE_ERROR) /* the engine could not: it says why */
		give_up(&result->error);
	printf("output: %s", (const char *)result->stream_data[FH_STDOUT]);
	printf("memory limit: %s\n", fh_enforced_name(result->enforced[FH_LIMIT_MEMORY]));

	fh_result_free(result);
	fh_plan_free(plan);
}

static struct fh_process *spawn(struct fh_sandbox *sandbox, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct fh_spawn_options options = FH_SPAWN_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_process *process;

	options.argv = argv;
	if (fh_process_spawn(sandbox, &options, &process, &err) < 0)
		give_up(&err);
	return process;
}

static void print_output(const char *name, struct fh_process *process)
{
	struct fh_error err = FH_ERROR_INIT;
	char bytes[1024];
	ssize_t n;

	while ((n = fh_process_read(process, FH_STDOUT, bytes, sizeof(bytes), -1, &err)) > 0)
		printf("%s: %.*s", name, (int)n, bytes);
	if (n < 0)
		give_up(&err);
}

/* A session: a sandbox that lives on between processes. The first one waits for input while the second one runs; both
 * see the same files. */
static void hold_a_session(struct fh_client *client)
{
	const char *const argv[] = { "/bin/true", NULL }; /* for a sandbox alone the command does not matter */
	struct fh_error err = FH_ERROR_INIT;
	struct fh_request request;
	struct fh_sandbox *sandbox;
	struct fh_plan *plan;
	struct fh_exit end;

	fh_request_init(&request);
	request.argv = argv;
	if (fh_plan_build(&request, &plan, &err) < 0 || fh_sandbox_create(client, plan, NULL, &sandbox, &err) < 0)
		give_up(&err);

	struct fh_process *reader = spawn(sandbox, "read name; cat note; echo hello, $name; exit 3");
	struct fh_process *writer = spawn(sandbox, "echo a note from the writer > note; echo written");
	print_output("writer", writer);
	if (fh_process_wait(writer, -1, &end, &err) < 0 || fh_process_write(reader, "reader\n", 7, &err) < 0)
		give_up(&err);
	print_output("reader", reader);
	if (fh_process_wait(reader, -1, &end, &err) < 0)
		give_up(&err);
	printf("reader: %s, exit code %d\n", fh_status_name(end.status), end.exit_code);

	fh_process_free(reader);
	fh_process_free(writer);
	if (fh_sandbox_destroy(sandbox, &err) < 0) /* kills what is left, and removes everything */
		give_up(&err);
	fh_sandbox_free(sandbox);
	fh_plan_free(plan);
}

int main(void)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_client *client;

	if (fh_client_open(NULL, &client, &err) < 0) /* starts an engine of its own */
		give_up(&err);
	run_python(client);
	hold_a_session(client);
	fh_client_close(client);
	return 0;
}
