/* SPDX-License-Identifier: MIT */
#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"

static bool as_json;
static const struct fh_opt options[] = {
	{ .name = "json", .kind = FH_OPT_FLAG, .target = &as_json, .help = "Print {deleted: [ids]}." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood delete",
	.synopsis = "ID… | latest | all",
	.about = "Deletes evals from the store, with their rows and ratings.",
	.details = "Each ID is an id or its beginning. An eval that is running is refused.\n\n"
	           "Exit status: 0; 1 when one could not be deleted; 2 the command line is wrong.",
	.options = options,
};

static int delete_one(struct fh_store *s, const char *name, json_t *deleted, struct fh_error *err)
{
	struct fh_store_eval e = { 0 };
	int r = fh_store_find(s, name, &e, err);
	if (r == 0)
		r = fh_store_delete(s, e.number, err);
	if (r == 0)
		json_array_append_new(deleted, fh_json_bytes(fh_str(e.id)));
	fh_store_eval_release(&e);
	return r;
}

static int delete_all(struct fh_store *s, json_t *deleted, struct fh_error *err)
{
	struct fh_store_eval_list list = { 0 };
	int r = fh_store_evals(s, &(struct fh_store_eval_filter){ 0 }, 0, 0, &list, err);
	for (size_t i = 0; i < list.count && r == 0; i++)
		r = delete_one(s, list.items[i].id, deleted, err);
	fh_store_eval_list_release(&list);
	return r;
}

int fh_store_command_delete(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	size_t first = args.count > 1 && fh_streq(args.items[0], "eval"); /* accepts promptfoo's form: delete eval ID */
	if (r == 0 && !help && args.count == first)
		r = fh_error_set(&err, FH_E_ARGUMENT, "delete needs the id of an eval");
	if (r < 0 || help) {
		fh_opt_list_release(&args);
		if (help)
			fh_options_help(&command_line, help);
		return help ? FH_EXIT_OK : fh_command_failed(&err, FH_EXIT_USAGE);
	}
	fh_auto_store struct fh_store *s = NULL;
	fh_auto_json json_t *deleted = json_array();
	r = fh_store_open(NULL, false, &s, &err);
	for (size_t i = first; i < args.count && r == 0; i++)
		r = fh_streq(args.items[i], "all") ? delete_all(s, deleted, &err) : delete_one(s, args.items[i], deleted, &err);
	if (as_json) {
		fh_auto_json json_t *out = json_pack("{s:O}", "deleted", deleted);
		fh_store_print_json(out);
	}
	for (size_t i = 0; !as_json && i < json_array_size(deleted); i++)
		fh_printf("deleted %s\n", json_string_value(json_array_get(deleted, i)));
	fh_opt_list_release(&args);
	return r < 0 ? fh_command_failed(&err, FH_EXIT_FAILED) : FH_EXIT_OK;
}
