/* SPDX-License-Identifier: MIT */
/* Program fumehood-report: `fumehood report`. */
#include "base/fd.h"
#include "base/process/launcher.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "report/report.h"

static const char *output;
static uint64_t failures;

static const struct fh_opt options[] = {
	{ "output", 'o', FH_OPT_STRING, &output, "FILE",
	  "Write the report to FILE, in the format of its extension: .html or .md.", FH_OPT_WRITES,
	  .default_words = "Markdown to standard output" },
	{ "failures", 0, FH_OPT_U64, &failures, "N", "How many failures are described in full.", FH_OPT_UNLIMITED,
	  .default_text = "100" },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood report",
	.synopsis = "[OPTIONS] [ID]",
	.about =
	    "Writes a report on an eval or judgement of the store for others to read, in one file that fetches nothing. It "
	    "tells the results with intervals, the method, limits, isolation and integrity, and the failures. ID may be "
	    "the beginning of an id; without one it is the latest eval.",
	.details = "Exit status: 0 when it was written, 1 when it could not be, 2 for a wrong command line.",
	.options = options,
};

static int write_report(const char *id, const struct fh_report_form *form, struct fh_error *err)
{
	fh_auto_store struct fh_store *s = NULL;
	struct fh_store_eval eval = { 0 };
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	int r = fh_store_open(NULL, true, &s, err);
	if (r == 0)
		r = fh_store_find(s, id, &eval, err);
	if (r == 0) {
		r = fh_report_write_stored(s, &eval, form, failures, &text, err);
		fh_store_eval_release(&eval);
	}
	if (r == 0 && output)
		r = fh_file_write_atomic(output, fh_buf_cstr(&text), text.n, 0666, err);
	else if (r == 0)
		fh_print(&text);
	return r;
}

int main(int argc, char **argv)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_opt_list args = { 0 };
	const struct fh_report_form *form = NULL;
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	fh_command_inherit_name();
	if (fh_launcher_forgo(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	if (r == 0 && !help && args.count > 1)
		r = fh_error_set(&err, FH_E_ARGUMENT, "a report is on one eval; %s is one ID too many", args.items[1]);
	if (r == 0 && !help)
		r = fh_report_form_for(output ? output : "md", &form, &err);
	if (r < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else if (write_report(args.count ? args.items[0] : "latest", form, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	return fh_print_end(status, FH_EXIT_FAILED);
}
