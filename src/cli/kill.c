/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include "cli/shared/options.h"
#include "fumehood/sandbox.h"

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood kill",
	.synopsis = "ID…",
	.about = "Destroys the sandboxes with these ids, as `fumehood ps` shows them: when the command returns, all their "
	         "processes are dead and nothing of them is left. The first letters of an id are enough, at least four.",
	.details = "Exit status: 0 when all of them were destroyed, 1 otherwise.",
	.options = options,
};

int fh_command_kill(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	if (r == 0 && !help && args.count == 0) {
		r = fh_error_set(&err, FH_E_ARGUMENT, "kill needs the id of a sandbox");
		fh_error_hint(&err, "`fumehood ps` lists them");
	}
	if (r < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	for (size_t i = 0; r == 0 && !help && i < args.count; i++)
		if (fh_kill(args.items[i], &err) < 0)
			status = fh_command_failed(&err, FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	return status;
}
