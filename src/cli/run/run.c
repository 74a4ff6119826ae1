/* SPDX-License-Identifier: MIT */
#include "cli/shared/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process/launcher.h"
#include "base/text/nearest.h"
#include "base/path.h"
#include "cli/run/run_inputs.h"
#include "cli/run/run_keep.h"
#include "cli/run/run_result.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "cli/shared/program.h"
#include "proto/plan.h"
#include "sandbox/planning/language.h"

/* The values of the options. `shaped`: an option that changes the plan was given, which --plan excludes. */
static struct {
	const char *language, *code, *interpreter, *venv, *image, *user, *hostname, *cwd, *stdin_file, *plan_file, *start,
	    *keep;
	struct fh_opt_list files, outs, env, mounts, require, without, compiler_flags, preload;
	struct fh_limits limits;
	double cpu_rate;
	uint64_t hash_secret;
	bool json, explain, command, standard_library_only, writable_root, raw, no_program;
	bool keep_given, shaped, cpu_rate_given, disk_given, file_size_given, limits_given, code_given;
} o;

#define SHAPES .given = &o.shaped
#define LIMIT_OPTION(option, option_kind, limit, arg, text)                                                            \
	{                                                                                                                  \
		.name = option, .kind = option_kind, .target = &o.limits.value[limit], .argument = arg, .help = text,          \
		.flags = FH_OPT_UNLIMITED, .given = &o.limits_given, .default_number = &fh_limit_table[limit].run_default      \
	}

static const struct fh_opt options[] = {
	{ "", .help = "What to run" },
	{ "language", 'l', FH_OPT_STRING, &o.language, "LANG",
	  "python, javascript, bash, c, cpp, java, go, rust, ruby, perl, php, lua or r.", SHAPES,
	  .default_words = "what FILE's name says" },
	{ "code", 'c', FH_OPT_STRING, &o.code, "CODE", "The program's text, instead of FILE.", .given = &o.code_given },
	{ "command", 0, FH_OPT_FLAG, &o.command, NULL, "Run ARGS as a command inside the sandbox, without a language.",
	  SHAPES },
	{ "interpreter", 0, FH_OPT_STRING, &o.interpreter, "PATH",
	  "The interpreter or compiler; with --image a path inside.", SHAPES,
	  .default_words = "the one that your shell would find" },
	{ "venv", 0, FH_OPT_STRING, &o.venv, "DIR", "Run in this Python virtual environment.", SHAPES },
	{ "image", 0, FH_OPT_STRING, &o.image, "DIR",
	  "A folder that holds a root file system, instead of this machine's "
	  "programs.",
	  SHAPES },
	{ "compiler-flag", 0, FH_OPT_LIST, &o.compiler_flags, "FLAG", "A flag for the compiler or linker.", SHAPES },
	{ "standard-library-only", 0, FH_OPT_FLAG, &o.standard_library_only, NULL,
	  "Hide the installed packages of Python and "
	  "Node.",
	  SHAPES },
	{ "preload", 0, FH_OPT_LIST, &o.preload, "MODULE",
	  "A module that the interpreter imports ahead of the run, where it is kept warm.", SHAPES },
	{ "user", 0, FH_OPT_STRING, &o.user, "USER", "user (uid 1000) or root (uid 0 of its own user namespace).", SHAPES,
	  .default_text = "user" },
	{ "writable-root", 0, FH_OPT_FLAG, &o.writable_root, NULL,
	  "Let the program write anywhere, as in a container; the changes are discarded at the end.", SHAPES },
	{ "hostname", 0, FH_OPT_STRING, &o.hostname, "NAME", "The host name inside.", SHAPES, .default_text = "sandbox" },
	{ "cwd", 0, FH_OPT_STRING, &o.cwd, "DIR", "The working directory inside.", SHAPES, .default_text = "/home/user" },

	{ "", .help = "Input and output" },
	{ "stdin-file", 0, FH_OPT_STRING, &o.stdin_file, "FILE", "The program's standard input.",
	  .default_words = "ours, with --json unless it is a terminal" },
	{ "env", 'e', FH_OPT_LIST, &o.env, "NAME=VALUE", "A variable of the program's environment.", SHAPES },
	{ "file", 0, FH_OPT_LIST, &o.files, "SRC[:NAME]", "Copy a regular file in, as NAME in the working directory.",
	  SHAPES },
	{ "out", 0, FH_OPT_LIST, &o.outs, "NAME[:DEST]", "Copy a regular file out that the program wrote." },
	{ "mount", 0, FH_OPT_LIST, &o.mounts, "SRC[:DST][:rw]",
	  "Show a file or folder of this machine in the sandbox, read-only unless :rw is given.", SHAPES },
	{ "json", 0, FH_OPT_FLAG, &o.json, NULL, "Print one JSON object at the end, instead of the output as it arrives." },
	{ "keep", 0, FH_OPT_STRING, &o.keep, "NAME",
	  "Keep the program and its result in the store, under this description, for `fumehood list`, show and view.",
	  FH_OPT_OPTIONAL, &o.keep_given },
	{ "raw", 0, FH_OPT_FLAG, &o.raw, NULL,
	  "Let output steer the terminal (colours, cursor); by default such bytes are shown "
	  "as text there." },

	{ "", .help = "Limits (\"unlimited\" removes one)" },
	LIMIT_OPTION("cpu-time", FH_OPT_DURATION, FH_LIMIT_CPU_TIME, "SECONDS", "CPU time of the whole process tree."),
	LIMIT_OPTION("wall-time", FH_OPT_DURATION, FH_LIMIT_WALL_TIME, "SECONDS", "Time on the clock."),
	LIMIT_OPTION("memory", FH_OPT_SIZE, FH_LIMIT_MEMORY, "SIZE", "Memory of the whole tree."),
	LIMIT_OPTION("processes", FH_OPT_U64, FH_LIMIT_PROCESSES, "N", "Processes and threads at a time."),
	{ "cpu-rate", 0, FH_OPT_DOUBLE, &o.cpu_rate, "N", "Number of processors that it may use, such as 0.5.",
	  .given = &o.cpu_rate_given, .default_words = "as many as there are" },
	LIMIT_OPTION("output", FH_OPT_SIZE, FH_LIMIT_OUTPUT, "SIZE", "Each of stdout and stderr."),
	{ "file-size", 0, FH_OPT_SIZE, &o.limits.value[FH_LIMIT_FILE_SIZE], "SIZE", "One file.", FH_OPT_UNLIMITED,
	  &o.file_size_given, .default_words = "as --disk" },
	{ "disk", 0, FH_OPT_SIZE, &o.limits.value[FH_LIMIT_DISK], "SIZE", "All writable folders together.",
	  FH_OPT_UNLIMITED, &o.disk_given, .default_number = &fh_limit_table[FH_LIMIT_DISK].run_default },
	LIMIT_OPTION("open-files", FH_OPT_U64, FH_LIMIT_OPEN_FILES, "N", "Descriptors of one process."),

	{ "", .help = "Isolation and plan" },
	{ "require", 0, FH_OPT_LIST, &o.require, "LAYER",
	  "Fail when this layer of isolation is not available (user, pid, mount, "
	  "network, ipc, uts, cgroup, no_new_privs, capabilities, seccomp, landlock, proc, inodes).",
	  SHAPES },
	{ "without", 0, FH_OPT_LIST, &o.without, "LAYER", "Leave a layer out, to test the others.", FH_OPT_HIDDEN,
	  &o.shaped },
	{ "start", 0, FH_OPT_STRING, &o.start, "PATH",
	  "How the program starts: auto, fresh, zygote or parked; fails where that is not possible. For tests and "
	  "measurements.",
	  SHAPES, .default_text = "auto" },
	{ "hash-secret", 0, FH_OPT_U64, &o.hash_secret, "N",
	  "Seed the language's hash tables with this number, for the same order each time (Python, Perl); `fumehood judge` "
	  "uses 1, and with --repeat 1 to 4 in turn.",
	  SHAPES, .most = UINT32_MAX },
	{ "explain", 0, FH_OPT_FLAG, &o.explain, NULL, "Print the plan as JSON and execute nothing." },
	{ "no-program", 0, FH_OPT_FLAG, &o.no_program, NULL,
	  "With --explain and -l: the plan of a session's sandbox, which has the language's tools and no program.",
	  SHAPES },
	{ "plan", 0, FH_OPT_STRING, &o.plan_file, "FILE", "Run the plan that --explain printed." },
	{ "", .help = "Other" },
	{ 0 },
};

static const struct fh_command_line command_line = {
	.program = "fumehood run",
	.synopsis = "[OPTIONS] [-c CODE | FILE | -] [-- ARGS…]",
	.about = "Runs a program in a fresh sandbox: no network, none of your files, bounded time and memory. At its end "
	         "all its processes are dead, and nothing of it is left. SIZE takes K, M, G; SECONDS take fractions.",
	.details = fh_run_exit_help,
	.options = options,
};

/* ------------------------------------------------------------------------------------------------ reading options */

static int parse_layers(const struct fh_opt_list *names, const char *option, uint32_t *ret, struct fh_error *err)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < names->count; i++) {
		struct fh_nearest near = FH_NEAREST_INIT(names->items[i]);
		int layer = 0;
		while (layer < FH_LAYER_COUNT_ && !fh_streq(fh_layer_name(layer), names->items[i]))
			fh_nearest_offer(&near, fh_layer_name(layer++));
		if (layer == FH_LAYER_COUNT_) {
			int r = fh_error_set(err, FH_E_ARGUMENT, "option %s: unknown layer %s", option, names->items[i]);
			fh_error_hint(err, near.best ? "did you mean %s?" : "`fumehood run --help` lists them%s",
			              near.best ? near.best : "");
			return r;
		}
		bits |= 1u << layer;
	}
	*ret = bits;
	return 0;
}

static int parse_start(enum fh_start *ret, struct fh_error *err)
{
	for (int i = 0; i < FH_START_COUNT_; i++)
		if (fh_streq(o.start, fh_start_name((enum fh_start)i))) {
			*ret = (enum fh_start)i;
			return 0;
		}
	return fh_error_set(err, FH_E_ARGUMENT, "option --start: %s is not one of auto, fresh, zygote, parked", o.start);
}

static int settle_limits(struct fh_error *err)
{
	if (o.cpu_rate_given) {
		if (!(o.cpu_rate > 0 && o.cpu_rate <= 4096))
			return fh_error_set(err, FH_E_ARGUMENT, "option --cpu-rate: %g is not a number of processors", o.cpu_rate);
		o.limits.value[FH_LIMIT_CPU_RATE] = FH_MAX((uint64_t)(o.cpu_rate * 1000 + 0.5), 1u);
	}
	if (!o.file_size_given)
		o.limits.value[FH_LIMIT_FILE_SIZE] = o.limits.value[FH_LIMIT_DISK];
	return 0;
}

/* ------------------------------------------------------------------------------------------------------- the plan */

/* Reads the file of --stdin-file into the plan, so that --explain shows a complete plan. */
static int read_stdin_file(struct fh_plan *plan, struct fh_error *err)
{
	if (!o.stdin_file || !o.explain)
		return 0;
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_PROGRAM_MAX);
	int r = fh_file_read(o.stdin_file, &text, err);
	if (r < 0)
		return fh_error_wrap(err, "option --stdin-file");
	free(plan->stdin_data.data);
	plan->stdin_data.data = (uint8_t *)fh_buf_take(&text, &plan->stdin_data.size);
	return 0;
}

/* Fills the request from options that need no file to be read. */
static int read_options(const struct fh_opt_list *args, struct fh_request *request, struct fh_error *err)
{
	int r = settle_limits(err);
	if (r == 0)
		r = parse_layers(&o.require, "--require", &request->require, err);
	if (r == 0)
		r = parse_layers(&o.without, "--without", &request->without, err);
	if (r == 0)
		r = parse_start(&request->start, err);
	if (r == 0 && o.command && (o.code_given || o.language))
		r = fh_error_set(err, FH_E_ARGUMENT, "--command excludes -l and -c");
	if (r == 0 && o.no_program && (!o.explain || !o.language || o.code_given || o.command || args->count))
		r = fh_error_set(err, FH_E_ARGUMENT, "--no-program needs --explain and -l, and excludes a program");
	if (r == 0 && o.command && args->count == 0)
		r = fh_error_set(err, FH_E_ARGUMENT, "--command needs a command");
	request->interpreter = o.interpreter;
	request->venv = o.venv;
	request->image = o.image;
	request->user = o.user;
	request->cwd = o.cwd;
	request->hostname = o.hostname;
	request->env = o.env.items;
	request->limits = o.limits;
	request->standard_library_only = o.standard_library_only;
	request->writable_root = o.writable_root;
	request->flags = o.compiler_flags.items;
	request->preload = o.preload.items;
	request->no_program = o.no_program;
	request->language = o.no_program ? o.language : NULL;
	request->hash_secret = (uint32_t)o.hash_secret;
	request->argv = o.command ? args->items : NULL;
	return r;
}

static void use_program(struct fh_request *request, const struct fh_program *program)
{
	request->language = program->language->name;
	request->code = (struct fh_bytes){ fh_buf_cstr(&program->code), program->code.n };
	request->code_name = program->name;
	request->args = program->args;
}

static void use_inputs(struct fh_request *request, const struct fh_run_inputs *in)
{
	request->files = in->files;
	request->file_count = in->file_count;
	request->mounts = in->mounts;
	request->mount_count = in->mount_count;
	request->outs = in->outs;
	request->out_count = o.outs.count;
}

static int build_plan(const struct fh_opt_list *args, bool *ret_took_stdin, struct fh_plan **ret, struct fh_error *err)
{
	struct fh_request request;
	struct fh_program program = FH_PROGRAM_INIT;
	struct fh_run_inputs in = { 0 };
	fh_request_init(&request);
	int r = read_options(args, &request, err);
	bool has_program = !o.command && !o.no_program;
	if (r == 0 && has_program)
		r = fh_program_read(&program, o.language, o.code_given ? o.code : NULL, args->items, args->count, err);
	if (r == 0)
		r = fh_run_inputs_read(&o.files, &o.mounts, &o.outs, &in, err);
	if (r == 0) {
		if (has_program)
			use_program(&request, &program);
		use_inputs(&request, &in);
		r = fh_plan_build(&request, ret, err);
	}
	*ret_took_stdin = program.took_stdin;
	fh_program_release(&program);
	fh_run_inputs_release(&in);
	return r;
}

static int load_plan(const struct fh_opt_list *args, struct fh_plan **ret, struct fh_error *err)
{
	if (o.shaped || o.code_given || o.limits_given || o.cpu_rate_given || o.disk_given || o.file_size_given ||
	    args->count) {
		int r = fh_error_set(err, FH_E_ARGUMENT, "--plan gives the whole plan: no option may change it");
		fh_error_hint(
		    err,
		    "only --json, --raw, --explain, --stdin-file and --out go with it; for other changes edit the plan's file");
		return r;
	}
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(FH_RUN_FILE_MAX);
	struct fh_plan *plan = NULL;
	int r = fh_file_read(o.plan_file, &text, err);
	if (r == 0)
		r = fh_plan_from_json(fh_buf_cstr(&text), text.n, o.plan_file, &plan, err);
	for (size_t i = 0; r == 0 && i < o.outs.count; i++) {
		fh_auto_free char *name = fh_run_out_name(o.outs.items[i]);
		fh_auto_free char *clean = fh_path_clean(name);
		bool there = false;
		for (size_t k = 0; plan->outs[k]; k++)
			there |= fh_streq(plan->outs[k], clean);
		if (!there)
			fh_plan_add_string(&plan->outs, clean);
	}
	if (r == 0)
		r = fh_plan_check(plan, err);
	if (r < 0) {
		fh_plan_free(plan);
		return r;
	}
	*ret = plan;
	return 0;
}

static int print_plan(const struct fh_plan *plan)
{
	struct fh_error err = FH_ERROR_INIT;
	fh_auto_free char *json = NULL;
	if (fh_plan_to_json(plan, &json, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_print_line(json);
	return FH_EXIT_OK;
}

/* -------------------------------------------------------------------------------------------------------- the run */

static void print_json(const struct fh_result *r)
{
	fh_auto_free char *json = fh_result_json(r, isatty(STDOUT_FILENO) ? 2 : 0);
	fh_print_line(json);
}

/* Prints an error in the form that was asked for (text or JSON) and returns the exit status. */
static int failed(const struct fh_error *err)
{
	int status = fh_run_error_status(err);
	if (!o.json || status == FH_EXIT_USAGE)
		return fh_command_failed(err, status);
	struct fh_result r = { .status = FH_STATUS_ENGINE_ERROR, .exit_code = -1, .limits = o.limits, .error = *err };
	print_json(&r);
	return status;
}

/* Chooses the descriptor that the program reads; -1: the plan's own input. *ret_owned is to be closed. */
static int open_stdin(const struct fh_plan *plan, bool took_stdin, int *ret_owned, int *ret_fd, struct fh_error *err)
{
	/* With --json a program calls us: what it pipes in is the input, but a terminal on standard input is not meant for
	 * it. */
	bool take = !(o.json && isatty(STDIN_FILENO) == 1) && !took_stdin && plan->stdin_data.size == 0;
	*ret_fd = take ? STDIN_FILENO : -1;
	if (!o.stdin_file || fh_streq(o.stdin_file, "-")) {
		if (o.stdin_file && !took_stdin)
			*ret_fd = STDIN_FILENO;
		return 0;
	}
	int fd = fh_file_open_waiting(o.stdin_file);
	struct stat st;
	if (fd < 0)
		return fh_error_sys(err, errno, "option --stdin-file: cannot open %s", o.stdin_file);
	*ret_owned = *ret_fd = fd;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return fh_error_set(err, FH_E_ARGUMENT, "option --stdin-file: %s is a folder", o.stdin_file);
	return 0;
}

static int run_in_client(struct fh_client *client, const struct fh_plan *plan, int stdin_fd, struct fh_result **ret,
                         struct fh_error *err)
{
	struct fh_run_output output;
	/* If standard output is closed the run is cancelled, unless files of --out still make it worthwhile. */
	fh_run_output_init(&output, o.raw, o.outs.count ? NULL : &fh_interrupted);
	struct fh_run_options options_of_run = FH_RUN_OPTIONS_INIT;
	options_of_run.cancel = &fh_interrupted;
	options_of_run.stdin_from_fd = stdin_fd >= 0;
	options_of_run.stdin_fd = stdin_fd;
	if (!o.json) {
		options_of_run.on_output = fh_run_output_write;
		options_of_run.context = &output;
		options_of_run.discard_output = !o.keep_given;
	}
	int r = fh_launcher_forgo(err); /* the only engine was started, and to handle its output needs no root's rights */
	if (r == 0)
		r = fh_run(client, plan, &options_of_run, ret, err);
	fh_run_output_end(&output);
	return r;
}

/* Starts the engine, which initializes on another processor while the plan is made. */
static int start_engine(struct fh_client **ret, struct fh_error *err)
{
	struct fh_client_options reach = FH_CLIENT_OPTIONS_INIT;
	reach.greet_later = true;
	return fh_client_open(&reach, ret, err);
}

/* The command line, for the store. */
static struct fh_run_keep kept;

static int execute_with(struct fh_client *client, const struct fh_plan *plan, bool took_stdin,
                        const struct fh_place *places)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_result *result = NULL;
	fh_auto_close int owned = -1;
	int stdin_fd = -1;
	int r = open_stdin(plan, took_stdin, &owned, &stdin_fd, &err);
	if (r < 0)
		return fh_command_failed(&err, FH_EXIT_USAGE);
	r = run_in_client(client, plan, stdin_fd, &result, &err);
	if (r < 0 && fh_interrupted)
		return fh_print_lost() ? FH_RUN_EXIT_LOST : 128 + fh_interrupted;
	if (r < 0)
		return failed(&err);
	int status = fh_run_exit_status(result);
	if (o.json)
		print_json(result);
	else
		fh_run_explain_end(result);
	if (fh_run_write_outs(result, &o.outs, places) > 0 && status == FH_EXIT_OK)
		status = FH_RUN_EXIT_LOST;
	if (o.keep_given && fh_run_keep(&kept, plan, result, &err) < 0) {
		int lost = fh_command_failed(&err, FH_RUN_EXIT_LOST);
		status = status == FH_EXIT_OK ? lost : status;
	}
	fh_result_free(result);
	return status;
}

static int execute(struct fh_client *client, const struct fh_plan *plan, bool took_stdin)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_place *places = NULL;
	if (o.keep_given && fh_run_keep_begin(&kept, &err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_interrupt_catch();
	int status = fh_run_outs_open(&o.outs, &places, &err) < 0 ? fh_command_failed(&err, FH_EXIT_USAGE)
	                                                          : execute_with(client, plan, took_stdin, places);
	fh_run_outs_close(&o.outs, places);
	fh_run_keep_release(&kept);
	return status;
}

static void release_options(void)
{
	struct fh_opt_list *lists[] = { &o.files,   &o.outs,           &o.env,    &o.mounts, &o.require,
		                            &o.without, &o.compiler_flags, &o.preload };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		fh_opt_list_release(lists[i]);
}

int fh_command_run(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	struct fh_plan *plan = NULL;
	struct fh_client *client = NULL;
	enum fh_help help;
	bool took_stdin = false;
	int status = FH_EXIT_OK;
	fh_limits_init(&o.limits);
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err);
	if (r == 0 && help) {
		fh_options_help(&command_line, help);
	} else {
		if (r == 0 && !o.explain)
			r = start_engine(&client, &err);
		if (r == 0)
			r = o.plan_file ? load_plan(&args, &plan, &err) : build_plan(&args, &took_stdin, &plan, &err);
		if (r == 0)
			r = read_stdin_file(plan, &err);
		kept = (struct fh_run_keep){ .description = o.keep, .argc = argc, .argv = argv };
		if (r < 0)
			status = failed(&err);
		else
			status = o.explain ? print_plan(plan) : execute(client, plan, took_stdin);
	}
	fh_client_close(client);
	fh_plan_free(plan);
	fh_opt_list_release(&args);
	release_options();
	return fh_print_end(status, FH_RUN_EXIT_LOST);
}
