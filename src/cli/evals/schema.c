/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_commands.h"

#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "eval/config/schema_export.h"

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood schema",
	.synopsis = "",
	.about = "Prints the JSON Schema of promptfooconfig.yaml as `fumehood eval` takes it, for editors.",
	.details = "Example:\n"
	           "  fumehood schema > .fumehood-schema.json\n"
	           "  # and as the first line of promptfooconfig.yaml:\n"
	           "  # yaml-language-server: $schema=.fumehood-schema.json\n\n"
	           "Exit status: 0, 2 for a wrong command line.",
	.options = options,
};

int fh_command_schema(int argc, char **argv)
{
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	fh_auto_json json_t *schema = fh_eval_schema_export();
	fh_auto_free char *text = fh_json_text(schema, 2);
	fh_printf("%s\n", text);
	return fh_print_end(FH_EXIT_OK, FH_EXIT_FAILED);
}
