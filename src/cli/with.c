/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/serve/serve.h"
#include "cli/shared/options.h"
#include "cli/switch.h"
#include "cli/with_server.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 }; /* exit statuses, the same as shells' */

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood with",
	.synopsis = "-- CMD [ARGS…]",
	.about = "Runs a command with fumehood's Python modules first on PYTHONPATH, as `fumehood env` does for a whole "
	         "shell. E2B's "
	         "SDKs find the server that runs at E2B_API_URL or at port " FH_SERVE_PORT
	         ", else one that is started for the command and "
	         "ends with it.",
	.details = "Example:\n"
	           "  fumehood with -- python3 grade.py\n"
	           "\n"
	           "Exit status: the command's own; 126 when it cannot be started, 127 when it is not there, 1 when this "
	           "installation has no Python modules, 2 for a wrong command line.",
	.options = options,
};

static int start(char *const *command, struct fh_error *err)
{
	struct fh_switch s = { 0 };
	struct fh_with_server server;
	if (fh_with_server_find(&server, err) < 0)
		return FH_EXIT_FAILED;
	const struct fh_switch_e2b e2b = { server.url, server.key };
	if (fh_switch_make(true, &e2b, &s, err) < 0)
		return FH_EXIT_FAILED;
	for (size_t i = 0; i < s.count; i++)
		if (s.variables[i].value)
			setenv(s.variables[i].name, s.variables[i].value, 1);
		else
			unsetenv(s.variables[i].name);
	execvp(command[0], command);
	int sys = errno;
	fh_error_sys(err, sys, "cannot run %s", command[0]);
	fh_switch_release(&s);
	return sys == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

int fh_command_with(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, true, &args, &help, &err);
	if (r == 0 && !help && args.count == 0) {
		r = fh_error_set(&err, FH_E_ARGUMENT, "there is no command to run");
		fh_error_hint(&err, "fumehood with -- CMD [ARGS…]");
	}
	if (r < 0 || help) {
		fh_opt_list_release(&args);
		if (r < 0)
			return fh_command_failed(&err, FH_EXIT_USAGE);
		fh_options_help(&command_line, help);
		return FH_EXIT_OK;
	}
	/* The arguments that were not parsed are the end of argv, including its NULL. */
	int status = start(argv + argc - args.count, &err);
	fh_opt_list_release(&args);
	return fh_command_failed(&err, status);
}
