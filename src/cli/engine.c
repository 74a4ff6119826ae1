/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <unistd.h>

#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "fumehood/sandbox.h"
#include "json/json.h"
#include "sandbox/connection/placement.h"
#include "sandbox/connection/service.h"

static uint64_t idle_ms;
static bool as_json;
static const struct fh_opt options[] = {
	{ "idle-timeout", 0, FH_OPT_DURATION, &idle_ms, "SECONDS",
	  "start: end the engine when it was not used for this time.", .default_words = "it stays", .actions = "start" },
	{ "json", 0, FH_OPT_FLAG, &as_json, NULL, "status: print one JSON object: {warm, process, socket}.",
	  .actions = "status" },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood engine",
	.synopsis = "[OPTIONS] start | stop | status | policy",
	.about = "Keeps one engine warm for you on this machine, so that `fumehood run`, `judge` and `eval` find "
	         "interpreters that "
	         "have started already. Without it each command starts an engine of its own. `policy` prints what programs "
	         "may ask "
	         "of the kernel, with the reason for each call.",
	.details = "Exit status: 0; 1 when that could not be done; 3 for status when no engine is kept warm.",
	.options = options,
};

enum { EXIT_NONE = 3 };

static int start(struct fh_error *err)
{
	pid_t pid;
	int r = fh_service_start(idle_ms, &pid, err);
	if (r == 0)
		fh_printf("An engine is kept warm (process %d).\n", (int)pid);
	return r < 0 ? fh_command_failed(err, FH_EXIT_FAILED) : FH_EXIT_OK;
}

static int stop(struct fh_error *err)
{
	pid_t pid;
	int r = fh_service_stop(&pid, err);
	if (r == 0)
		fh_printf("The engine (process %d) has ended.\n", (int)pid);
	return r < 0 ? fh_command_failed(err, FH_EXIT_FAILED) : FH_EXIT_OK;
}

static void print_json(bool warm, pid_t pid, const char *path)
{
	fh_auto_json json_t *o = json_object();
	json_object_set_new(o, "warm", json_boolean(warm));
	json_object_set_new(o, "process", warm ? json_integer(pid) : json_null());
	json_object_set_new(o, "socket", warm ? json_string(path) : json_null());
	fh_auto_free char *text = json_dumps(o, JSON_COMPACT);
	fh_printf("%s\n", text);
}

static int status(struct fh_error *err)
{
	char path[FH_SERVICE_PATH_MAX] = "";
	pid_t pid = 0;
	int r = fh_service_status(&pid, err);
	if (r < 0 && r != -FH_E_NOT_FOUND)
		return fh_command_failed(err, FH_EXIT_FAILED);
	(void)fh_service_path(false, path, NULL);
	if (as_json)
		print_json(r == 0, pid, path);
	else if (r == 0)
		fh_printf("An engine is kept warm: process %d, at %s.\n", (int)pid, path);
	else
		fh_printf("No engine is kept warm.\n");
	return r == 0 ? FH_EXIT_OK : EXIT_NONE;
}

static int policy(struct fh_error *err)
{
	fh_auto_free char *program = NULL;
	if (fh_engine_program(NULL, &program, err) == 0) {
		execl(program, "fumehood-engine", "--policy", (char *)NULL);
		fh_error_set(err, FH_E_SYSTEM, "cannot start %s", program);
	}
	return fh_command_failed(err, FH_EXIT_FAILED);
}

static const struct {
	const char *name;
	int (*run)(struct fh_error *err);
} actions[] = { { "start", start }, { "stop", stop }, { "status", status }, { "policy", policy } };

int fh_command_engine(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	size_t i = 0;
	while (r == 0 && args.count == 1 && i < FH_ARRAY_SIZE(actions) && !fh_streq(args.items[0], actions[i].name))
		i++;
	if (r == 0 && !help && (args.count != 1 || i == FH_ARRAY_SIZE(actions)))
		r = fh_action_refused(&err, "engine", "start, stop, status and policy", &args);
	fh_opt_list_release(&args);
	if (r < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	if (help) {
		fh_options_help(&command_line, help);
		return FH_EXIT_OK;
	}
	return actions[i].run(&err);
}
