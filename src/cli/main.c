/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text/nearest.h"
#include "base/path.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "fumehood/sandbox.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* NULL: the command is a program of its own */
	const char *about;
	const char *program; /* the command is in fumehood-PROGRAM, which has several; NULL: in fumehood-NAME */
};

static const struct command commands[] = {
	{ "run", fh_command_run, "Run a program in a fresh sandbox." },
	{ "eval", NULL, "Evaluate prompts and providers as promptfooconfig.yaml says." },
	{ "init", NULL, "Write an eval to begin with: a config, recorded answers, a recipe for CI.", .program = "eval" },
	{ "validate", NULL, "Check a config, its prompts, tests and providers; send no requests.", .program = "eval" },
	{ "schema", NULL, "Print the JSON Schema of configs, for editors.", .program = "eval" },
	{ "cache", NULL, "Remove the answers of models that eval keeps.", .program = "eval" },
	{ "list", NULL, "List what is in the store: evals, judgements, runs.", .program = "store" },
	{ "show", NULL, "Show an eval of the store: its totals, and what did not pass.", .program = "store" },
	{ "compare", NULL, "Compare two evals task by task: regressions, fixes, chance.", .program = "store" },
	{ "export", NULL, "Write an eval of the store as JSON, CSV, HTML and others.", .program = "store" },
	{ "import", NULL, "Import results files, promptfoo's too, into the store.", .program = "store" },
	{ "delete", NULL, "Delete evals from the store.", .program = "store" },
	{ "retry", NULL, "Run again the tests of an eval that ended in an error, or failed.", "eval" },
	{ "judge", NULL, "Judge model-written solutions of a benchmark's problems." },
	{ "session", fh_command_session, "Sandboxes that live on: make them, run in them, copy files, branch." },
	{ "view", NULL, "Show what is stored in a browser: evals, answers, comparisons." },
	{ "report", NULL, "Write a report on an eval or judgement for others to read." },
	{ "serve", NULL, "Serve sandboxes to E2B's SDKs from this machine." },
	{ "mcp", fh_command_mcp, "Serve sandboxes to agents by the Model Context Protocol." },
	{ "ps", fh_command_ps, "List the sandboxes that are alive." },
	{ "kill", fh_command_kill, "Destroy sandboxes." },
	{ "engine", fh_command_engine, "Keep one engine warm on this machine." },
	{ "gc", fh_command_gc, "Remove what engines that died have left behind." },
	{ "doctor", fh_command_doctor, "Check what this machine supports, and how to mend what is missing." },
	{ "env", fh_command_env, "Print shell commands that put fumehood's Python modules first." },
	{ "with", fh_command_with, "Run a command with fumehood's Python modules first." },
};

/* "help" is last. It has no row in the table, as it only shows what other commands have. */
static bool describe(size_t i, const char **ret_name, const char **ret_about)
{
	static const size_t count = FH_ARRAY_SIZE(commands);
	if (i > count)
		return false;
	*ret_name = i < count ? commands[i].name : "help";
	*ret_about = i < count ? commands[i].about : "Show this help, or that of a command.";
	return true;
}

static bool show_version;
static const struct fh_opt options[] = {
	{ "version", 'V', FH_OPT_FLAG, &show_version, NULL, "Show the version." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood",
	.synopsis = "COMMAND [OPTIONS] …",
	.about = "Runs code that language models wrote, where it can do no harm, and finds out whether it works.",
	.details = "`fumehood help COMMAND` shows the help of a command.",
	.options = options,
	.command = describe,
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++)
		if (fh_streq(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* The program that holds a command; NULL: fumehood itself. */
static const char *program_of(const struct command *c)
{
	return c->run ? NULL : c->program ? c->program : c->name;
}

const char *fh_command_apart(size_t n)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++) {
		const char *program = program_of(&commands[i]);
		bool met = false;
		for (size_t k = 0; k < i && !met; k++)
			met = program && fh_streq(program_of(&commands[k]), program);
		if (program && !met && n-- == 0)
			return program;
	}
	return NULL;
}

char *fh_command_names_in(const char *program)
{
	struct fh_buf names = FH_BUF_INIT(0);
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++)
		if (fh_streq(program_of(&commands[i]), program))
			fh_buf_addf(&names, "%s%s", names.n ? ", " : "", commands[i].name);
	return fh_buf_take(&names, NULL);
}

/* Folders of the other programs: this one's in a build tree, or libexec. */
static const char *const places[] = { "%s/fumehood-%s", "%s/../libexec/fumehood/fumehood-%s" };

char *fh_command_program(const char *name)
{
	fh_auto_free char *self = fh_path_self_dir();
	for (size_t i = 0; self && i < FH_ARRAY_SIZE(places); i++) {
		fh_auto_free char *path = fh_xasprintf(places[i], self, name);
		if (access(path, F_OK) == 0)
			return FH_TAKE_PTR(path);
	}
	return NULL;
}

/* Executes a command that is a program of its own. Returns only on failure. */
static int start_program(const char *name, char **argv)
{
	fh_auto_free char *self = fh_path_self_dir();
	struct fh_error err = FH_ERROR_INIT;
	if (!self) {
		fh_error_set(&err, FH_E_UNAVAILABLE, "cannot find fumehood-%s: /proc does not say where this program lies",
		             name);
		return fh_command_failed(&err, FH_EXIT_FAILED);
	}
	setenv("FUMEHOOD_CALLED_AS", fh_command_name(), 1);
	for (size_t i = 0; i < FH_ARRAY_SIZE(places); i++) {
		fh_auto_free char *path = fh_xasprintf(places[i], self, name);
		execv(path, argv);
		if (errno == ENOENT || errno == ENOTDIR)
			continue;
		fh_error_sys(&err, errno, "cannot start %s", path);
		return fh_command_failed(&err, 126);
	}
	fh_error_set(&err, FH_E_NOT_FOUND, "the program fumehood-%s is neither beside %s/fumehood nor in libexec", name,
	             self);
	fh_error_hint(&err, "build or install fumehood whole");
	return fh_command_failed(&err, 127);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	return c->run ? c->run(argc, argv) : start_program(program_of(c), argv);
}

/* Commands of promptfoo, and what there is in their place. */
static const struct {
	const char *name, *instead;
} of_promptfoo[] = {
	{ "share", "`fumehood report -o report.html`, or `fumehood export latest -o results.html`, makes one file to send; "
	           "`fumehood import` reads what `fumehood export` wrote" },
	{ "generate", "tests come from files (`tests: file://tests.py`) and data sets; none are made up" },
	{ "redteam", "red teaming is promptfoo's; fumehood tests answers, and does not make attacks" },
	{ "scan-model", "files of models are not scanned; `fumehood run` runs what a model wrote" },
	{ "optimize", "-p of `fumehood eval` takes several prompts, and compares them" },
	{ "logs", "`fumehood show ID` tells what an eval did; nothing else is logged" },
};

static int unknown_command(const char *name)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_nearest near = FH_NEAREST_INIT(name);
	for (size_t i = 0; i < FH_ARRAY_SIZE(commands); i++)
		fh_nearest_offer(&near, commands[i].name);
	fh_nearest_offer(&near, "help");
	fh_error_set(&err, FH_E_ARGUMENT, "unknown command %s", name);
	const char *instead = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(of_promptfoo); i++)
		if (fh_streq(of_promptfoo[i].name, name))
			instead = of_promptfoo[i].instead;
	if (instead)
		fh_error_hint(&err, "%s", instead);
	else if (near.best)
		fh_error_hint(&err, "did you mean `fumehood %s`?", near.best);
	else
		fh_error_hint(&err, "`fumehood help` lists the commands");
	return fh_command_failed(&err, FH_EXIT_USAGE);
}

static int show_help(enum fh_help form)
{
	fh_options_help(&command_line, form);
	return FH_EXIT_OK;
}

static int help_on(const char *name, char *program)
{
	const struct command *c = find(name);
	if (!c)
		return fh_streq(name, "--help=json")                                                ? show_help(FH_HELP_JSON)
		       : fh_streq(name, "help") || fh_streq(name, "--help") || fh_streq(name, "-h") ? show_help(FH_HELP_TEXT)
		                                                                                    : unknown_command(name);
	char help[] = "--help";
	fh_auto_free char *own_name = fh_xstrdup(c->name); /* tells a program of several commands which one is meant */
	char *argv[] = { c->program ? own_name : program, help, NULL };
	return run_command(c, 2, argv);
}

/* Opens missing standard descriptors: otherwise the next opened file would get their number, and a program's output
 * would go there. Standard output is opened so that writing fails, which makes the loss of output an error. */
static void open_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* Dies together with a parent that started this program for its own work and set FUMEHOOD_PARENT to its pid. This holds
 * for commands that are programs of their own too, since execve keeps the setting. */
static void die_with_parent(void)
{
	const char *parent = getenv("FUMEHOOD_PARENT");
	if (!parent)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)strtol(parent, NULL, 10)) /* the parent died before prctl() */
		raise(SIGKILL);
	(void)unsetenv("FUMEHOOD_PARENT");
}

int main(int argc, char **argv)
{
	die_with_parent();
	open_standard_descriptors();
	fh_command_tell_waits();
	fh_command_called_as(argv[0]);
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	if (fh_options_parse(&command_line, argc, argv, true, &args, &help, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	int rest = argc;
	if (args.count > 0) /* args are the command and its arguments */
		for (rest = 1; argv[rest] != args.items[0];)
			rest++;
	int status = FH_EXIT_OK;
	if (help || (args.count == 0 && !show_version)) {
		(void)show_help(help);
		status = help ? FH_EXIT_OK : FH_EXIT_USAGE;
	} else if (show_version)
		fh_printf("fumehood %s\n", fh_version());
	else if (fh_streq(args.items[0], "help"))
		status = args.count > 1 ? help_on(args.items[1], argv[0]) : show_help(FH_HELP_TEXT);
	else if (find(args.items[0]))
		status = run_command(find(args.items[0]), argc - rest, argv + rest);
	else
		status = unknown_command(args.items[0]);
	fh_opt_list_release(&args);
	return fh_print_end(status, FH_EXIT_FAILED);
}
