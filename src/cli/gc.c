/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "fumehood/sandbox.h"

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood gc",
	.synopsis = "",
	.about = "Removes what engines that were killed have left behind: cgroups and folders. The next run would do so "
	         "too; live sandboxes are not touched.",
	.details = "Exit status: 0, or 1 when something could not be removed.",
	.options = options,
};

int fh_command_gc(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	size_t removed = 0;
	if (fh_collect_garbage(&removed, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_printf("%zu removed\n", removed);
	return FH_EXIT_OK;
}
