/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "cli/store/store.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "eval/outputs/source.h"

static bool as_json;
static const char *format;
static struct fh_opt_list outputs;
static const struct fh_opt options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = FH_OPT_LIST,
	  .target = &outputs,
	  .argument = "FILE",
	  .flags = FH_OPT_WRITES,
	  .help = "Write to FILE, in the format of its extension.",
	  .default_words = "standard output" },
	{ .name = "format",
	  .kind = FH_OPT_STRING,
	  .target = &format,
	  .argument = "NAME",
	  .help = "For standard output: json, jsonl, csv, yaml, xml, html, md, junit.xml or prom.",
	  .default_text = "json" },
	{ .name = "json", .kind = FH_OPT_FLAG, .target = &as_json, .help = "The same as --format json." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood export",
	.synopsis = "[OPTIONS] ID",
	.about = "Writes an eval of the store, whole, as `fumehood eval -o` writes it: as promptfoo's JSON, CSV, HTML and "
	         "others.",
	.details = "Examples:\n"
	           "  fumehood export latest > results.json\n"
	           "  fumehood export eval-aBc -o report.html -o results.csv\n\n"
	           "Exit status: 0; 1 when the eval cannot be read or the file not written; 2 the command line is wrong.",
	.options = options,
};

static int write_out(const struct fh_output_data *data, const struct fh_output_kind *kind, struct fh_error *err)
{
	if (!outputs.count)
		return fh_output_print(kind, data, STDOUT_FILENO, err);
	struct fh_output_files *files = NULL;
	int r = fh_output_files_open(outputs.items, &files, err);
	if (r == 0)
		r = fh_output_files_end(files, data, err);
	fh_output_files_close(files);
	return r;
}

static int export(const char *name, const struct fh_output_kind *kind, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval e = { 0 };
	struct fh_output_source source = { 0 };
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, name, &e, err);
	if (r == 0)
		r = fh_output_source_of_store(s, &e, &source, err);
	if (r == 0)
		r = write_out(&source.data, kind, err);
	fh_output_source_release(&source);
	fh_store_eval_release(&e);
	return r;
}

int fh_store_command_export(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	enum fh_help help = FH_HELP_NONE;
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	size_t first = args.count > 1 && fh_streq(args.items[0], "eval"); /* accepts promptfoo's form: export eval ID */
	const struct fh_output_kind *kind = fh_output_named(as_json ? "json" : format);
	if (r == 0 && !help && args.count != first + 1)
		r = fh_error_set(&err, FH_E_ARGUMENT, "export needs one id, or \"latest\"");
	if (r == 0 && !help && !kind) {
		fh_auto_free char *known = fh_output_extensions();
		r = fh_error_set(&err, FH_E_ARGUMENT, "there is no format %s", format);
		fh_error_hint(&err, "known are, without the dot, %s", known);
	}
	int status = FH_EXIT_OK;
	if (r < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else if (export(args.items[first], kind, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	fh_opt_list_release(&outputs);
	return status;
}
