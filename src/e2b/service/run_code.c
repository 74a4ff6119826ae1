/* SPDX-License-Identifier: MIT */
/* POST /run_code: runs one program in a sandbox of its own; the API is SandboxFusion's. */
#include <math.h>
#include <stdio.h>

#include "base/text/base64.h"
#include "e2b/service/routes.h"
#include "e2b/service/service.h"
#include "e2b/service/turns.h"
#include "proto/plan.h"

enum { FILES_MAX = 256, SECONDS_DEFAULT = 10, SECONDS_MAX = 3600 };

/* ----------------------------------------------------------------------------------------------------------- turn */

static bool has_gone(const void *request)
{
	return fh_http_peer_gone(request) || fh_http_stopping(request);
}

FH_OWN FH_NULLABLE json_t *fh_service_enter(struct fh_http_request *r, struct fh_str body)
{
	struct fh_e2b *s = fh_http_context(r);
	const char *type = fh_http_header(r, "Content-Type");
	if (!type || strncasecmp(type, "application/json", 16) != 0) { /* other origins need a preflight for this type */
		fh_e2b_fail(r, 415, "the body must be JSON, with Content-Type: application/json");
		return NULL;
	}
	json_t *o = fh_e2b_body_of_bytes(r, body);
	if (!o)
		return NULL;
	switch (fh_turns_take(s->turns, fh_e2b_key(r), has_gone, r)) {
	case FH_TURN_TAKEN:
		return o;
	case FH_TURN_FULL:
		fh_http_reply_header(r, "Retry-After", "1");
		json_t *full = json_object();
		json_object_set_new(full, "code", json_integer(429));
		json_object_set_new(full, "message",
		                    json_string("as many of your requests as may wait do; come again in a second"));
		fh_http_reply_json(r, 429, full);
		break;
	case FH_TURN_GIVEN_UP:
		fh_e2b_fail(r, 503, "the server is stopping");
		break;
	}
	json_decref(o);
	return NULL;
}

void fh_service_leave(struct fh_http_request *r)
{
	struct fh_e2b *s = fh_http_context(r);
	fh_turns_done(s->turns, fh_e2b_key(r));
}

/* -------------------------------------------------------------------------------------------------------- request */

/* A libfumehood request made from an HTTP request; it owns the decoded files. */
struct job {
	struct fh_request request;
	struct fh_file files[FILES_MAX];
	struct fh_buf content[FILES_MAX];
	const char *outs[FILES_MAX];
};

static void job_free(struct job *j)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		fh_buf_release(&j->content[i]);
	free(j);
}

/* Reads seconds, returned as ms and bounded by `most`. */
static uint64_t time_of(const json_t *body, const char *name, uint64_t most)
{
	const json_t *value = json_object_get(body, name);
	double s = json_is_number(value) ? json_number_value(value) : SECONDS_DEFAULT;
	if (!(s > 0))
		s = SECONDS_DEFAULT;
	return FH_MIN(most, (uint64_t)(fmin(s, SECONDS_MAX) * 1000));
}

static bool read_files(struct fh_http_request *r, const json_t *body, struct job *j)
{
	json_t *files = json_object_get(body, "files"), *wanted = json_object_get(body, "fetch_files"), *value;
	const char *name;
	size_t n = 0, i;
	if (json_object_size(files) > FILES_MAX || json_array_size(wanted) >= FILES_MAX) {
		fh_e2b_fail(r, 400, "at most %d files go in and out", FILES_MAX);
		return false;
	}
	json_object_foreach(files, name, value)
	{
		if (json_is_null(value))
			continue;
		if (!json_is_string(value) || fh_base64_decode(&j->content[n], fh_str(json_string_value(value))) < 0) {
			fh_e2b_fail(r, 400, "files: %.64s is not base64", name);
			return false;
		}
		j->files[n] = (struct fh_file){ name, { j->content[n].p, j->content[n].n }, 0 };
		n++;
	}
	j->request.files = j->files;
	j->request.file_count = n;
	json_array_foreach(wanted, i, value) j->outs[i] = json_is_string(value) ? json_string_value(value) : "";
	j->request.outs = j->outs;
	j->request.out_count = json_array_size(wanted);
	return true;
}

static bool read_job(struct fh_http_request *r, const json_t *body, struct job *j)
{
	const struct fh_key *key = fh_e2b_key(r);
	const json_t *code = json_object_get(body, "code"), *input = json_object_get(body, "stdin");
	const char *language = fh_json_str(body, "language", NULL);
	int64_t megabytes = fh_json_int(body, "memory_limit_MB", -1);
	if (!json_is_string(code) || !language) {
		fh_e2b_fail(r, 422, "code and language must be texts");
		return false;
	}
	fh_request_init(&j->request);
	j->request.language = language;
	j->request.code = (struct fh_bytes){ json_string_value(code), json_string_length(code) };
	if (json_is_string(input))
		j->request.stdin_data = (struct fh_bytes){ json_string_value(input), json_string_length(input) };
	fh_ceilings_limits(&key->ceilings, &j->request.limits);
	uint64_t *limit = j->request.limits.value;
	limit[FH_LIMIT_WALL_TIME] = time_of(body, "run_timeout", key->ceilings.value[FH_CEILING_LIFETIME]);
	if (megabytes > 0)
		limit[FH_LIMIT_MEMORY] = FH_MIN(limit[FH_LIMIT_MEMORY], (uint64_t)FH_MIN(megabytes, 1 << 20) << 20);
	return read_files(r, body, j);
}

/* --------------------------------------------------------------------------------------------------------- answer */

static json_t *stream_text(const struct fh_result *x, enum fh_stream stream)
{
	return fh_json_bytes((struct fh_str){ (const char *)x->stream_data[stream], x->stream_size[stream] });
}

/* The times of a program, in seconds, and how it ended. "Error" would mean that the sandbox failed: a program that
 * failed has "Finished", and one that was out of time has no code. */
FH_OWN json_t *fh_service_command(const struct fh_result *x)
{
	bool timed_out = x->fired & (1u << FH_LIMIT_WALL_TIME | 1u << FH_LIMIT_CPU_TIME);
	json_t *o = json_object();
	json_object_set_new(o, "status", json_string(timed_out ? "TimeLimitExceeded" : "Finished"));
	json_object_set_new(o, "execution_time", json_real((double)x->usage.wall_us / 1e6));
	json_object_set_new(o, "cpu_time", json_real((double)(x->usage.cpu_user_us + x->usage.cpu_sys_us) / 1e6));
	json_object_set_new(o, "return_code",
	                    timed_out ? json_null() : json_integer(x->signal ? -x->signal : x->exit_code));
	return o;
}

/* Makes the member compile_result or run_result. */
static json_t *command_object(const struct fh_result *x)
{
	json_t *o = fh_service_command(x);
	json_object_set_new(o, "stdout", stream_text(x, FH_STDOUT));
	json_object_set_new(o, "stderr", stream_text(x, FH_STDERR));
	return o;
}

static json_t *finished_compile(void)
{
	json_t *o = json_object();
	json_object_set_new(o, "status", json_string("Finished"));
	json_object_set_new(o, "execution_time", json_null());
	json_object_set_new(o, "cpu_time", json_null());
	json_object_set_new(o, "return_code", json_integer(0));
	json_object_set_new(o, "stdout", json_string(""));
	json_object_set_new(o, "stderr", json_string(""));
	return o;
}

static json_t *files_object(const struct fh_result *x)
{
	json_t *o = json_object();
	for (size_t i = 0; i < x->out_count; i++) {
		fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
		if (x->outs[i].refused)
			continue;
		fh_base64_encode(&text, (struct fh_str){ (const char *)x->outs[i].data, x->outs[i].size });
		json_object_set_new(o, x->outs[i].name, json_string(fh_buf_cstr(&text)));
	}
	return o;
}

/* `limit` is our extension: the limit that ended the program; "" for none. */
static json_t *answer(const struct fh_result *x, bool compiles)
{
	json_t *o = json_object();
	bool compile_failed = x->status == FH_STATUS_COMPILE_ERROR, ended = x->fired != 0;
	bool ours = x->status == FH_STATUS_ENGINE_ERROR;
	json_object_set_new(o, "status",
	                    json_string(ours                        ? "SandboxError"
	                                : x->status == FH_STATUS_OK ? "Success"
	                                                            : "Failed"));
	json_object_set_new(o, "message", fh_json_bytes(fh_str(ours ? x->error.message : "")));
	json_object_set_new(o, "compile_result",
	                    compile_failed      ? command_object(x)
	                    : compiles && !ours ? finished_compile()
	                                        : json_null());
	json_object_set_new(o, "run_result", compile_failed || ours ? json_null() : command_object(x));
	json_object_set_new(o, "executor_pod_name", json_null());
	json_object_set_new(o, "files", files_object(x));
	json_object_set_new(o, "limit", json_string(ended ? fh_status_name(x->status) : ""));
	return o;
}

static void run(struct fh_http_request *r, const json_t *body, struct job *j)
{
	struct fh_e2b *s = fh_http_context(r);
	struct fh_e2b_engine *engine = NULL;
	struct fh_plan *plan = NULL;
	struct fh_result *x = NULL;
	struct fh_error err = FH_ERROR_INIT;
	int code = fh_plan_build(&j->request, &plan, &err);
	if (code < 0) { /* an unknown language, or an invalid file name */
		fh_e2b_fail(r, 400, "%s", err.message);
		return;
	}
	if (plan->compile)
		plan->compile->limits.value[FH_LIMIT_WALL_TIME] =
		    time_of(body, "compile_timeout", plan->compile->limits.value[FH_LIMIT_WALL_TIME]);
	code = fh_e2b_engine_get(&s->engines, &engine, &err);
	if (code == 0)
		code = fh_run(engine->client, plan, NULL, &x, &err);
	if (code < 0)
		fh_e2b_fail_from(r, &err);
	else
		fh_http_reply_json(r, 200, answer(x, plan->compile != NULL));
	fh_result_free(x);
	fh_plan_free(plan);
	fh_e2b_engine_drop(engine);
}

static void run_code(struct fh_http_request *r, struct fh_str text)
{
	fh_auto_json json_t *body = fh_service_enter(r, text);
	if (!body)
		return;
	struct job *j = FH_NEW(struct job);
	if (read_job(r, body, j))
		run(r, body, j);
	job_free(j);
	fh_service_leave(r);
}

const struct fh_http_route fh_e2b_run_routes[] = {
	{ "POST", "/run_code", run_code, .flags = FH_E2B_KEYLESS },
	{ 0 },
};
