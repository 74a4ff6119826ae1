/* SPDX-License-Identifier: MIT */
/* Plans for the machine of the engine: what it answers gives the plan that looking at the machine gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "sandbox/connection/client.h"
#include "sandbox/connection/mux.h"

static struct fh_request request_for(const char *language)
{
	struct fh_request r;
	fh_request_init(&r);
	r.language = language;
	r.code = (struct fh_bytes){ "", 0 };
	return r;
}

static void same_plan(struct fh_client *client, const struct fh_request *r)
{
	struct fh_plan *here, *there;
	char *text_here, *text_there;
	if (fh_plan_build(r, &here, &err) < 0) { /* the language is not installed: neither finds it */
		CHECK(fh_plan_build_for(client, r, &there, &err) < 0);
		return;
	}
	OK(fh_plan_build_for(client, r, &there, &err));
	OK(fh_plan_to_json(here, &text_here, &err));
	OK(fh_plan_to_json(there, &text_there, &err));
	/* The engine's machine is this one, so that its plan is the same. */
	if (strcmp(text_here, text_there) != 0)
		fprintf(stderr, "here:\n%s\nthere:\n%s\n", text_here, text_there);
	CHECK(strcmp(text_here, text_there) == 0);
	free(text_here);
	free(text_there);
	fh_plan_free(here);
	fh_plan_free(there);
}

/* Without the client's cache, which a machine elsewhere has not. */
static void the_engine_answers_what_this_machine_answers(void)
{
	static const char *const languages[] = { "python", "javascript", "bash", "cpp", "go", "rust", "java" };
	setenv("FUMEHOOD_COMPILE_CACHE", "0", 1);
	struct fh_client *client = open_client();
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++) {
		struct fh_request r = request_for(languages[i]);
		same_plan(client, &r);
	}
	struct fh_mount mount = { .source = "/usr/share", .target = "/share" };
	struct fh_request r = request_for("python");
	r.mounts = &mount;
	r.mount_count = 1;
	r.standard_library_only = true;
	same_plan(client, &r);
	fh_client_close(client);
}

static uint64_t requests_for_plan(struct fh_client *client, const struct fh_request *r)
{
	uint64_t before = client->connection->last_request;
	struct fh_plan *plan;
	OK(fh_plan_build_for(client, r, &plan, &err));
	fh_plan_free(plan);
	return client->connection->last_request - before;
}

/* The second plan of a kind asks all at once what the first one asked one by one; one that a command does not reach
 * asks nothing. */
static void the_questions_of_the_last_plan_are_asked_together(void)
{
	char folder[] = "/tmp/fumehood-survey-XXXXXX", file[sizeof(folder) + 32];
	CHECK(mkdtemp(folder) != NULL);
	setenv("XDG_CACHE_HOME", folder, 1);
	unsetenv("FUMEHOOD_COMPILE_CACHE");
	struct fh_client *client = open_client();
	struct fh_request r = request_for("bash");
	uint64_t first = requests_for_plan(client, &r), second = requests_for_plan(client, &r);
	if (client->placement->tool)
		CHECK(first > 10 && second == 1);
	else
		CHECK(first == 0 && second == 0);
	/* The questions are kept, not the answers: a plan is refused once its language is gone. */
	snprintf(file, sizeof(file), "%s/bash", folder);
	CHECK(symlink("/bin/bash", file) == 0);
	r.interpreter = file;
	(void)requests_for_plan(client, &r);
	CHECK(unlink(file) == 0);
	struct fh_plan *plan;
	CHECK(fh_plan_build_for(client, &r, &plan, &err) < 0);
	fh_client_close(client);
	char remove[sizeof(folder) + 16];
	snprintf(remove, sizeof(remove), "rm -rf %s", folder);
	CHECK(system(remove) == 0); /* the folder's name is mkdtemp's */
}

static void a_plan_from_there_runs(void)
{
	struct fh_client *client = open_client();
	struct fh_request r = request_for("bash");
	struct fh_plan *plan;
	struct fh_result *result;
	r.code = (struct fh_bytes){ "echo planned", strlen("echo planned") };
	OK(fh_plan_build_for(client, &r, &plan, &err));
	OK(fh_run(client, plan, NULL, &result, &err));
	CHECK(result->status == FH_STATUS_OK && strcmp((char *)result->stream_data[FH_STDOUT], "planned\n") == 0);
	fh_result_free(result);
	fh_plan_free(plan);
	fh_client_close(client);
}

const struct driver_test survey_tests[] = {
	DRIVER_TEST(the_engine_answers_what_this_machine_answers),
	DRIVER_TEST(the_questions_of_the_last_plan_are_asked_together),
	DRIVER_TEST(a_plan_from_there_runs),
	{ NULL, NULL },
};
