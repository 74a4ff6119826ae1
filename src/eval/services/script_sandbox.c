/* SPDX-License-Identifier: MIT */
#include "eval/services/script_sandbox.h"

#include <signal.h>
#include <unistd.h>
#include "base/fd.h"
#include "base/path.h"
#include "eval/services/services.h"
#include "fumehood/sandbox.h"

#define SCRIPT_GUEST_MAX ((size_t)1 << 20)
#define SCRIPT_OUTPUT_MAX ((uint64_t)64 << 20)
#define SCRIPT_PRINT_MAX ((size_t)1 << 20) /* bytes of a script's stderr that are shown */

/* Makes the mounts of the folders that the script may read; a folder below another one of them needs no mount. */
static size_t mounts_of(const struct fh_script_sandbox_place *place, const char *file_dir, struct fh_mount *ret)
{
	const char *const dirs[] = { place->dir, file_dir };
	size_t n = 0;
	for (size_t i = 0; i < FH_ARRAY_SIZE(dirs); i++) {
		bool inside =
		    dirs[i] && i && dirs[0] && fh_starts_with(dirs[i], dirs[0]) && strchr("/", dirs[i][strlen(dirs[0])]);
		if (dirs[i] && !inside)
			ret[n++] = (struct fh_mount){ .source = dirs[i], .target = dirs[i] };
	}
	return n;
}

/* Takes the answer from a run's result, or says what ended the run. */
static int take(const struct fh_result *r, json_t **ret_answer, struct fh_error *why)
{
	if (r->stream_size[FH_STDERR] &&
	    fh_write_all(STDERR_FILENO, r->stream_data[FH_STDERR], FH_MIN(r->stream_size[FH_STDERR], SCRIPT_PRINT_MAX)))
		why->message[0] = 0; /* the call does not fail when our own stderr is closed */
	if (r->status == FH_STATUS_WALL_TIME_LIMIT || r->status == FH_STATUS_CPU_TIME_LIMIT)
		return fh_error_set(why, FH_E_TIMEOUT, "too slow");
	struct fh_str text = { (const char *)r->stream_data[FH_STDOUT], r->stream_size[FH_STDOUT] };
	json_t *answer = r->status == FH_STATUS_OK && text.n ? fh_json_parse(text, NULL, NULL) : NULL;
	if (!answer)
		return fh_error_set(why, FH_E_PROTOCOL, "in its sandbox the script ended without an answer (%s)",
		                    fh_status_name(r->status));
	*ret_answer = answer;
	return 0;
}

/* Whether a KILL ended the script, which may have come from outside: such a call is made once more, as with workers
 * and after an error of the engine. */
static bool was_killed(const struct fh_result *r)
{
	return r->status == FH_STATUS_RUNTIME_ERROR && r->signal == SIGKILL;
}

int fh_eval_script_sandbox_run(void *context, const struct fh_script_sandbox_call *call, json_t **ret_answer,
                               struct fh_error *why, int *ret_failure, struct fh_error *err)
{
	const struct fh_script_sandbox_place *place = context;
	static const char *const once[] = { "--once", NULL };
	fh_auto_buf struct fh_buf guest = FH_BUF_INIT(SCRIPT_GUEST_MAX);
	struct fh_client *client = NULL;
	int code = fh_file_read(call->guest, &guest, err);
	if (code)
		return code;
	fh_auto_free char *message = fh_json_text(call->message, 0);
	fh_auto_free char *real = call->file ? realpath(call->file, NULL) : NULL;
	fh_auto_free char *file_dir = real ? fh_path_dir(real) : NULL;
	struct fh_mount mounts[2];
	struct fh_request request;
	fh_request_init(&request);
	request.language = call->language;
	request.code = (struct fh_bytes){ guest.p, guest.n };
	request.code_name = fh_path_base(call->guest);
	request.args = once;
	request.mounts = mounts;
	request.mount_count = mounts_of(place, file_dir, mounts);
	request.stdin_data = (struct fh_bytes){ message, strlen(message) };
	request.limits.value[FH_LIMIT_WALL_TIME] = call->timeout_ms;
	request.limits.value[FH_LIMIT_CPU_TIME] = call->timeout_ms;
	request.limits.value[FH_LIMIT_OUTPUT] = SCRIPT_OUTPUT_MAX;
	struct fh_plan *plan = NULL;
	struct fh_result *result = NULL;
	struct fh_run_options options = FH_RUN_OPTIONS_INIT;
	options.cancel = fh_services_cancel(place->services);
	code = fh_plan_build(&request, &plan, err);
	for (unsigned tries = 0; !code && tries < 2; tries++) {
		fh_result_free(result);
		result = NULL;
		code = fh_services_client(place->services, &client, err);
		if (!code)
			code = fh_run(client, plan, &options, &result, err);
		if (!code && !was_killed(result) && result->status != FH_STATUS_ENGINE_ERROR)
			break;
		if (code && tries == 0 && client && fh_services_client_ended(client))
			code = 0; /* with the engine that takes its place */
	}
	fh_plan_free(plan);
	if (!code && result->status == FH_STATUS_ENGINE_ERROR) {
		code = fh_error_set(err, FH_E_UNAVAILABLE, "a script cannot be run in a sandbox: %s", result->error.message);
	} else if (!code) {
		*ret_failure = take(result, ret_answer, why);
	}
	fh_result_free(result);
	return code;
}
