/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_commands.h"

#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "provider/cache.h"

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood cache",
	.synopsis = "clear | path",
	.about = "Removes the answers of models that `fumehood eval` keeps on disk (clear), or prints the folder in which "
	         "they are (path).",
	.details = "They are in $XDG_CACHE_HOME/fumehood/responses (~/.cache/fumehood/responses), for 14 days; "
	           "PROMPTFOO_CACHE_PATH and PROMPTFOO_CACHE_TTL (seconds) change that. `fumehood eval --no-cache` uses "
	           "none.\n\nExit status: 0, 1 when the folder cannot be read, 2 for a wrong command line.",
	.options = options,
};

static int clear(struct fh_response_cache *cache, struct fh_error *err)
{
	size_t n = 0;
	int r = fh_response_cache_clear(cache, &n, err);
	if (r == 0)
		fh_printf("%zu answer%s removed.\n", n, n == 1 ? "" : "s");
	return r;
}

static int path(struct fh_response_cache *cache, struct fh_error *err)
{
	fh_printf("%s\n", fh_response_cache_dir(cache));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct fh_response_cache *cache, struct fh_error *err);
} verbs[] = { { "clear", clear }, { "path", path } };

int fh_command_cache(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err), status = FH_EXIT_USAGE;
	if (r >= 0 && help) {
		fh_options_help(&command_line, help);
		status = FH_EXIT_OK;
	} else if (r >= 0) {
		r = fh_action_refused(&err, "cache", "clear and path", &args);
		for (size_t i = 0; args.count == 1 && i < FH_ARRAY_SIZE(verbs); i++) {
			if (!fh_streq(args.items[0], verbs[i].name))
				continue;
			struct fh_response_cache *cache = fh_response_cache_new(NULL, 0);
			r = verbs[i].run(cache, &err);
			status = r < 0 ? FH_EXIT_FAILED : FH_EXIT_OK;
			fh_response_cache_free(cache);
		}
	}
	fh_opt_list_release(&args);
	return r < 0 ? fh_command_failed(&err, status) : fh_print_end(status, FH_EXIT_FAILED);
}
