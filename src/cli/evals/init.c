/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_commands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host/data.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/text/nearest.h"
#include "base/path.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"

#define FILE_MAX ((size_t)16 << 20)
#define USUAL "tutorial"

/* Folders below examples/evals, each with a promptfooconfig.yaml and recordings.jsonl. */
static const struct {
	const char *name, *about, *old_names[3]; /* old_names: those of promptfoo's for similar examples */
} examples[] = {
	{ "tutorial", "functions that a model wrote, called in a sandbox", { "integration-epicbox", "getting-started" } },
	{ "languages", "the same task in Python, JavaScript and bash", { NULL } },
	{ "io-pairs", "whole programs, by what they read and print", { NULL } },
	{ "algorithms", "searching, sorting and graphs, with their corners", { NULL } },
	{ "performance", "answers that have to be fast and small enough", { NULL } },
	{ "data-science", "statistics and tables, within a tolerance", { NULL } },
	{ "web-scraping", "reading a page that is given, without a network", { NULL } },
	{ "security",
	  "answers that try to read and to reach what they must not",
	  { "integration-e2b", "e2b-code-eval", "code-eval-e2b" } },
};

static bool has_name(size_t i, const char *name)
{
	bool found = fh_streq(examples[i].name, name);
	for (size_t k = 0; k < FH_ARRAY_SIZE(examples[i].old_names); k++)
		found = found || (examples[i].old_names[k] && fh_streq(examples[i].old_names[k], name));
	return found;
}

static const char *example;
static bool no_interactive, list, force;
static const struct fh_opt options[] = {
	{ "example", 0, FH_OPT_STRING, &example, "NAME", "Which example.",
	  .default_words = "asked for in a terminal, else " USUAL },
	{ "list", 0, FH_OPT_FLAG, &list, NULL, "List the examples." },
	{ "no-interactive", 0, FH_OPT_FLAG, &no_interactive, NULL, "Ask nothing." },
	{ "force", 0, FH_OPT_FLAG, &force, NULL, "Replace existing files." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood init",
	.synopsis = "[OPTIONS] [FOLDER]",
	.about = "Writes an eval to begin with: a promptfooconfig.yaml, recorded answers to run it without a model, "
	         ".env.example "
	         "and a recipe for GitHub Actions.",
	.details = "Example:\n"
	           "  fumehood init --example tutorial first-eval\n"
	           "  cd first-eval && fumehood eval --replay recordings.jsonl\n\n"
	           "Exit status: 0, 1 when a file exists already or cannot be written, 2 for a wrong command line.",
	.options = options,
};

static int find(const char *name, size_t *ret, struct fh_error *err)
{
	struct fh_nearest near = FH_NEAREST_INIT(name);
	for (size_t i = 0; i < FH_ARRAY_SIZE(examples); i++) {
		fh_nearest_offer(&near, examples[i].name);
		if (has_name(i, name)) {
			*ret = i;
			return 0;
		}
	}
	fh_error_set(err, FH_E_ARGUMENT, "there is no example %s", name);
	fh_error_hint(err, near.best ? "did you mean %s?" : "`fumehood init --list` names them%s",
	              near.best ? near.best : "");
	return -FH_E_ARGUMENT;
}

static void print_list(void)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(examples); i++)
		fh_printf("%-12s %s\n", examples[i].name, examples[i].about);
}

/* Asks on the terminal for the number or name of an example; a blank line means the first. */
static int ask(size_t *ret, struct fh_error *err)
{
	char line[128];
	for (size_t i = 0; i < FH_ARRAY_SIZE(examples); i++)
		fprintf(stderr, "  %zu  %-12s %s\n", i + 1, examples[i].name, examples[i].about);
	fprintf(stderr, "Which one? [1] ");
	if (!fgets(line, sizeof(line), stdin))
		return fh_error_set(err, FH_E_CANCELLED, "there was no answer; name the example with --example NAME");
	line[strcspn(line, "\r\n")] = 0;
	char *end;
	unsigned long n = strtoul(line, &end, 10);
	if (!*line || (!*end && n >= 1 && n <= FH_ARRAY_SIZE(examples))) {
		*ret = *line ? n - 1 : 0;
		return 0;
	}
	return find(line, ret, err);
}

static int copy_file(const char *from, const char *to, bool look_only, struct fh_error *err)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FILE_MAX);
	if (!force && fh_path_exists(to)) {
		fh_error_set(err, FH_E_CONFIG, "%s exists already; nothing was written", to);
		fh_error_hint(err, "name another folder, or replace it with --force");
		return -FH_E_CONFIG;
	}
	if (look_only)
		return 0;
	int r = fh_file_read(from, &text, err);
	return r < 0 ? r : fh_file_write_atomic(to, text.p, text.n, 0644, err);
}

/* Copies a tree. It is called twice: first only to check that everything can be written, then to write. */
static int copy_tree(const char *from, const char *to, bool look_only, struct fh_error *err)
{
	DIR *d = opendir(from);
	int r = d ? 0 : fh_error_sys(err, errno, "cannot read %s", from);
	if (r == 0 && !look_only && mkdir(to, 0755) < 0 && errno != EEXIST)
		r = fh_error_sys(err, errno, "cannot make the folder %s", to);
	for (struct dirent *e; r == 0 && (e = readdir(d));) {
		if (fh_streq(e->d_name, ".") || fh_streq(e->d_name, ".."))
			continue;
		fh_auto_free char *source = fh_path_join(from, e->d_name), *target = fh_path_join(to, e->d_name);
		r = fh_path_is_dir(source) ? copy_tree(source, target, look_only, err)
		                           : copy_file(source, target, look_only, err);
	}
	if (d)
		closedir(d);
	return r;
}

static int write_example(size_t which, const char *folder, struct fh_error *err)
{
	fh_auto_free char *name = fh_xasprintf("examples/evals/%s", examples[which].name), *source = NULL, *common = NULL;
	int r = fh_data_path(name, &source, err);
	if (r == 0)
		r = fh_data_path("examples/evals/common", &common, err);
	if (r == 0)
		r = copy_tree(source, folder, true, err);
	if (r == 0)
		r = copy_tree(common, folder, true, err);
	if (r == 0)
		r = copy_tree(source, folder, false, err);
	return r == 0 ? copy_tree(common, folder, false, err) : r;
}

static void print_next(const char *folder)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_adds(&out, "Written. Next:\n");
	if (!fh_streq(folder, ".")) {
		fh_buf_adds(&out, "  cd ");
		fh_escape_shell(&out, fh_str(folder));
		fh_buf_addc(&out, '\n');
	}
	const char *name = fh_command_name();
	fh_buf_addf(&out, "  %s eval --replay recordings.jsonl    (recorded answers: no model, no key)\n", name);
	fh_buf_addf(&out, "  %s eval                              (a model: copy .env.example to .env, and put a key in)\n",
	            name);
	fh_print(&out);
}

static int init(const struct fh_opt_list *args, struct fh_error *err)
{
	size_t which = 0;
	const char *folder = args->count ? args->items[0] : ".";
	int r = 0;
	if (args->count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "one folder at a time: %s", args->items[1]);
	if (example)
		r = find(example, &which, err);
	else if (!no_interactive && isatty(STDIN_FILENO))
		r = ask(&which, err);
	if (r == 0)
		r = write_example(which, folder, err);
	if (r == 0)
		print_next(folder);
	return r;
}

int fh_command_init(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	int status = FH_EXIT_OK;
	if (fh_options_parse(&command_line, argc, argv, false, &args, &help, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else if (list)
		print_list();
	else if (init(&args, &err) < 0)
		status = fh_command_failed(&err, err.code == FH_E_ARGUMENT ? FH_EXIT_USAGE : FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	return fh_print_end(status, FH_EXIT_FAILED);
}
