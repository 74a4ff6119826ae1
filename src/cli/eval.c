/* SPDX-License-Identifier: MIT */
/* Program fumehood-eval: `fumehood eval`. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/fd.h"
#include "base/launcher.h"
#include "base/path.h"
#include "cli/eval_commands.h"
#include "cli/eval_report.h"
#include "cli/eval_show.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/term.h"
#include "eval/env.h"
#include "eval/outputs/output.h"

#include "eval/run.h"
#include "provider/cache.h"
#include "provider/record.h"
#include "provider/replay.h"
#include "script/script.h"

/* As promptfoo exits when not enough tests passed; PROMPTFOO_FAILED_TEST_EXIT_CODE sets another. */
enum { EXIT_TESTS_FAILED = 100 };
#define TABLE_ROWS_MAX 25
#define TABLE_TESTS_MAX 500 /* no table from here on */

static const char details[] =
    "The config is promptfoo's: prompts, providers and tests; beside promptfoo's assertions there is `code`, which "
    "runs the program in a model's answer in a sandbox and checks what it does.\n\n"
    "Environment: a .env file in the working directory is read, if there is one. FUMEHOOD_REPLAY=FILE answers every "
    "provider from recordings. PROMPTFOO_PASS_RATE_THRESHOLD (percent, default 100) is what has to pass for status "
    "0.\n\n"
    "Examples:\n"
    "  fumehood eval\n"
    "  fumehood eval -c promptfooconfig.yaml -o results.json -j 8\n"
    "  fumehood eval --filter-pattern factorial --repeat 5 --no-table\n"
    "  fumehood eval --show 3 results.json\n\n"
    "Exit status: 0 every test passed; 100 some failed or met an error; 1 the config is wrong or results could not be "
    "written; 2 the command line is wrong; 130 interrupted, what was done is kept and written.";

struct eval_options {
	struct fh_opt_list configs, outputs, vars, prompts, providers, metadata, extensions, tags, script_env, args;
	const char *tests, *env_file, *description, *filter_providers, *filter_prompts, *assertions, *model_outputs,
	    *record, *replay;
	struct fh_eval_overrides overrides;
	uint64_t cell_max, show, script_timeout;
	bool table, progress_bar, color, color_given, cache, cache_given, write, share, verbose, lenient, show_given,
	    jobs_given, sandbox_scripts, help;
};

/* What an eval holds in memory is a tenth of its time to free, and the process ends next; a build that looks for leaks
 * wants it freed all the same. */
#ifdef __SANITIZE_ADDRESS__
#define FREE_AT_END 1
#else
#define FREE_AT_END 0
#endif

/* ---------------------------------------------------------------------------------------------------------- options */

#define OPT(name_, letter_, kind_, target_, argument_, help_)                                                          \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = kind_, .target = target_, .argument = argument_, .help = help_       \
	}
#define SWITCH(name_, target_, given_, flags_, help_)                                                                  \
	{                                                                                                                  \
		.name = name_, .kind = FH_OPT_FLAG, .target = target_, .given = given_, .help = help_,                         \
		.flags = FH_OPT_NEGATABLE | (flags_)                                                                           \
	}

static int parse_options(int argc, char **argv, struct eval_options *o, struct fh_error *err)
{
	struct fh_eval_overrides *v = &o->overrides;
	const struct fh_opt table[] = {
		OPT("config", 'c', FH_OPT_LIST, &o->configs, "FILE",
		    "A config, or a glob; several are joined (default: promptfooconfig.yaml, .yml, .json, .js, .ts …)."),
		OPT("output", 'o', FH_OPT_LIST, &o->outputs, "FILE", "Write results there: .json, .jsonl or .csv; repeatable."),
		{ .name = "max-concurrency",
		  .letter = 'j',
		  .kind = FH_OPT_U64,
		  .target = &v->concurrency,
		  .given = &o->jobs_given,
		  .argument = "N",
		  .help = "Tests at a time (default 4)." },
		OPT("repeat", 0, FH_OPT_U64, &v->repeat, "N", "Run each test so many times."),
		OPT("delay", 0, FH_OPT_U64, &v->delay_ms, "MS", "Pause before each call of a provider; one call at a time."),
		OPT("description", 0, FH_OPT_STRING, &o->description, "TEXT",
		    "The eval's description, in place of the config's."),
		OPT("env-file", 0, FH_OPT_STRING, &o->env_file, "FILE",
		    "Environment variables (default: .env, if it is there)."),
		OPT("env-path", 0, FH_OPT_STRING, &o->env_file, "FILE", "The same as --env-file."),
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "Answers that are there already"),
		SWITCH("cache", &o->cache, &o->cache_given, 0,
		       "Keep answers of servers on disk for 14 days and use them again (the default; `fumehood cache clear`)."),
		OPT("record", 0, FH_OPT_STRING, &o->record, "FILE", "Add every answer to FILE, for --replay (JSONL)."),
		OPT("replay", 0, FH_OPT_STRING, &o->replay, "FILE",
		    "Answer every provider from FILE, and ask nothing (also: FUMEHOOD_REPLAY=FILE)."),
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "Your own scripts"),
		OPT("script-env", 0, FH_OPT_LIST, &o->script_env, "NAME",
		    "Let scripts see this key or password (or pattern); repeatable. They see no other."),
		OPT("script-timeout", 0, FH_OPT_U64, &o->script_timeout, "MS",
		    "The most that one call of a script may take (default 300000)."),
		{ .name = "sandbox-scripts",
		  .kind = FH_OPT_FLAG,
		  .target = &o->sandbox_scripts,
		  .help = "Run every call of a script in a sandbox that sees the config's folder, read-only." },
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "In place of the config's own"),
		OPT("prompts", 'p', FH_OPT_LIST, &o->prompts, "PROMPT", "A prompt, or a file of prompts; repeatable."),
		OPT("providers", 'r', FH_OPT_LIST, &o->providers, "ID", "A provider; repeatable."),
		OPT("tests", 't', FH_OPT_STRING, &o->tests, "FILE", "The file of tests."),
		OPT("vars", 'v', FH_OPT_STRING, &o->tests, "FILE", "The same as --tests."),
		OPT("assertions", 'a', FH_OPT_STRING, &o->assertions, "FILE", "Assertions for --model-outputs (YAML list)."),
		OPT("model-outputs", 0, FH_OPT_STRING, &o->model_outputs, "FILE",
		    "Check these answers (JSON: texts, or {output, tags}) and ask nothing."),
		OPT("grader", 0, FH_OPT_STRING, &v->grader, "ID", "The provider that grades (llm-rubric and its like)."),
		OPT("extension", 'x', FH_OPT_LIST, &o->extensions, "FILE", "Hooks, before the config's own; repeatable."),
		{ .name = "lenient",
		  .kind = FH_OPT_FLAG,
		  .target = &o->lenient,
		  .help = "Keys that are nearly known ones are told, not refused." },
		OPT("var", 0, FH_OPT_LIST, &o->vars, "NAME=VALUE",
		    "A variable of every test that does not set it; repeatable."),
		OPT("prompt-prefix", 0, FH_OPT_STRING, &v->prompt_prefix, "TEXT", "Put in front of every prompt."),
		OPT("prompt-suffix", 0, FH_OPT_STRING, &v->prompt_suffix, "TEXT", "Put behind every prompt."),
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "Which tests"),
		OPT("filter-first-n", 'n', FH_OPT_U64, &v->filter.first_n, "N", "The first N."),
		OPT("filter-pattern", 0, FH_OPT_STRING, &v->filter.pattern, "REGEX", "Those whose description matches."),
		OPT("filter-range", 0, FH_OPT_STRING, &v->filter.range, "START:END",
		    "From START (0 is the first) up to END - 1."),
		OPT("filter-metadata", 0, FH_OPT_LIST, &o->metadata, "KEY=VALUE", "Those with this metadata; repeatable."),
		OPT("filter-failing", 0, FH_OPT_STRING, &v->filter.failing, "RESULTS.json", "Those that did not pass there."),
		OPT("filter-failing-only", 0, FH_OPT_STRING, &v->filter.failing_only, "RESULTS.json",
		    "Those of them that failed an assertion."),
		OPT("filter-errors-only", 0, FH_OPT_STRING, &v->filter.errors_only, "RESULTS.json",
		    "Those of them that met an error."),
		OPT("filter-sample", 0, FH_OPT_U64, &v->filter.sample, "N", "N picked at random."),
		OPT("filter-sample-seed", 0, FH_OPT_STRING, &v->filter.sample_seed, "SEED",
		    "What picks them, so that it picks "
		    "the same again."),
		OPT("filter-providers", 0, FH_OPT_STRING, &o->filter_providers, "REGEX", "Providers by id or label."),
		OPT("filter-targets", 0, FH_OPT_STRING, &o->filter_providers, "REGEX", "The same as --filter-providers."),
		OPT("filter-prompts", 0, FH_OPT_STRING, &o->filter_prompts, "REGEX", "Prompts by label."),
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "What is shown"),
		SWITCH("table", &o->table, NULL, 0,
		       "Show results as a table (the default, for fewer than 500 tests); the reasons that occur, with counts, "
		       "where it "
		       "does not show all."),
		{ .name = "show",
		  .kind = FH_OPT_U64,
		  .target = &o->show,
		  .given = &o->show_given,
		  .argument = "INDEX",
		  .help = "Run nothing; show one result (0 is the first) of the results file that is named last." },
		OPT("table-cell-max-length", 0, FH_OPT_U64, &o->cell_max, "N", "Bytes of a cell that are shown (default 250)."),
		SWITCH("progress-bar", &o->progress_bar, NULL, 0, "Show progress (the default)."),
		SWITCH("color", &o->color, &o->color_given, 0, "Colours (default: on a terminal, unless NO_COLOR is set)."),
		SWITCH("write", &o->write, NULL, FH_OPT_HIDDEN, "Taken for promptfoo's sake: only -o writes."),
		SWITCH("share", &o->share, NULL, FH_OPT_HIDDEN, "Taken for promptfoo's sake: nothing is shared."),
		{ .name = "tag",
		  .kind = FH_OPT_LIST,
		  .target = &o->tags,
		  .argument = "NAME=VALUE",
		  .flags = FH_OPT_HIDDEN,
		  .help = "Taken for promptfoo's sake." },
		SWITCH("verbose", &o->verbose, NULL, FH_OPT_HIDDEN, "Taken for promptfoo's sake."),
		{ 0 },
	};
	const struct fh_command_line line = {
		.program = "fumehood eval",
		.synopsis = "[OPTIONS] | --show INDEX RESULTS.json",
		.about = "Runs prompts x providers x tests as promptfooconfig.yaml says, and checks the answers.",
		.details = details,
		.options = table
	};
	int r = fh_options_parse(&line, argc, argv, false, &o->args, &o->help, err);
	if (r >= 0 && o->help)
		fh_options_help(&line);
	if (r < 0 || o->help)
		return r;
	if (o->show_given && o->args.count != 1)
		return fh_error_set(err, FH_E_ARGUMENT, "--show needs one results file: fumehood eval --show 3 results.json");
	if (o->args.count > 0 && !o->show_given)
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" is no option; a config is given with -c", o->args.items[0]);
	if (!o->assertions != !o->model_outputs)
		return fh_error_set(err, FH_E_ARGUMENT, "--assertions and --model-outputs go together");
	if (o->jobs_given && v->concurrency == 0)
		return fh_error_set(err, FH_E_ARGUMENT, "option --max-concurrency: at least 1 test at a time");
	for (size_t i = 0; i < o->outputs.count; i++) {
		const struct fh_output *kind;
		r = fh_output_for(o->outputs.items[i], &kind, err);
		if (r < 0)
			return r;
	}
	v->filter_providers = o->filter_providers;
	v->filter_prompts = o->filter_prompts;
	v->filter.metadata = o->metadata.count ? o->metadata.items : NULL;
	return 0;
}

static void release_options(struct eval_options *o)
{
	struct fh_opt_list *const lists[] = { &o->configs,  &o->outputs,    &o->vars, &o->prompts,    &o->providers,
		                                  &o->metadata, &o->extensions, &o->tags, &o->script_env, &o->args };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		fh_opt_list_release(lists[i]);
	json_decref((json_t *)(uintptr_t)o->overrides.vars);
	json_decref((json_t *)(uintptr_t)o->overrides.prompts);
	json_decref((json_t *)(uintptr_t)o->overrides.providers);
	json_decref((json_t *)(uintptr_t)o->overrides.tests);
	json_decref((json_t *)(uintptr_t)o->overrides.assertions);
	json_decref((json_t *)(uintptr_t)o->overrides.model_outputs);
	json_decref((json_t *)(uintptr_t)o->overrides.extensions);
}

/* A file named on the command line is relative to the working directory, not to the config. */
static json_t *absolute(const char *text)
{
	bool marked = fh_starts_with(text, "file://");
	const char *path = text + (marked ? strlen("file://") : 0);
	char cwd[4096];
	if ((!marked && (strchr(path, '\n') || !fh_path_exists(path))) || *path == '/' || !getcwd(cwd, sizeof(cwd)))
		return json_string(text);
	return json_sprintf("file://%s/%s", cwd, path);
}

static json_t *absolute_list(const struct fh_opt_list *l)
{
	json_t *list = json_array();
	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(list, absolute(l->items[i]));
	return list;
}

static int load_list(const char *path, const char *what, json_t **ret, struct fh_error *err)
{
	struct fh_document *d = NULL;
	int r = fh_document_load(path, &d, err);
	if (r == 0 && !json_is_array(d->root))
		r = fh_document_error(d, "", err, "the file must hold a list of %s", what);
	if (r == 0)
		*ret = json_incref(d->root);
	fh_document_free_list(d);
	return r;
}

/* With answers that are there already, the answers are the tests, and the provider gives them back. */
static int load_outputs(struct eval_options *o, struct fh_error *err)
{
	json_t *assertions = NULL, *outputs = NULL;
	int r = load_list(o->assertions, "assertions", &assertions, err);
	if (r == 0)
		r = load_list(o->model_outputs, "answers", &outputs, err);
	o->overrides.assertions = assertions;
	o->overrides.model_outputs = outputs;
	json_decref((json_t *)(uintptr_t)o->overrides.prompts);
	json_decref((json_t *)(uintptr_t)o->overrides.providers);
	o->overrides.prompts = json_pack("[s]", "{{output}}");
	o->overrides.providers = json_pack("[s]", "echo");
	return r;
}

static int make_overrides(struct eval_options *o, struct fh_error *err)
{
	json_t *vars = json_object();
	o->overrides.vars = vars;
	for (size_t i = 0; i < o->vars.count; i++) {
		const char *equals = strchr(o->vars.items[i], '=');
		if (!equals || equals == o->vars.items[i])
			return fh_error_set(err, FH_E_ARGUMENT, "--var %s: not of the form NAME=VALUE", o->vars.items[i]);
		fh_auto_free char *name = fh_xstrndup(o->vars.items[i], (size_t)(equals - o->vars.items[i]));
		json_object_set_new(vars, name, fh_json_bytes(fh_str(equals + 1)));
	}
	if (o->prompts.count)
		o->overrides.prompts = absolute_list(&o->prompts);
	if (o->providers.count)
		o->overrides.providers = absolute_list(&o->providers);
	if (o->tests)
		o->overrides.tests = absolute(o->tests);
	if (o->extensions.count)
		o->overrides.extensions = absolute_list(&o->extensions);
	return o->model_outputs ? load_outputs(o, err) : 0;
}

static int load_env_file(const struct eval_options *o, struct fh_error *err)
{
	if (o->env_file)
		return fh_env_file_load(o->env_file, err);
	return fh_path_exists(".env") && !fh_path_is_dir(".env") ? fh_env_file_load(".env", err) : 0;
}

/* --------------------------------------------------------------------------------------------------------- reporting
 */

static void on_progress(void *context, size_t done, size_t passed, size_t failed, size_t errors)
{
	char note[96];
	snprintf(note, sizeof(note), "passed %zu failed %zu errors %zu", passed, failed, errors);
	fh_progress_step(context, done, note);
}

static bool shows_color(const struct eval_options *o)
{
	enum fh_color_mode mode = !o->color_given ? FH_COLOR_AUTO : o->color ? FH_COLOR_ALWAYS : FH_COLOR_NEVER;
	return fh_term_color(STDOUT_FILENO, mode);
}

/* How to see the first result that did not pass: the command, for the first .json file that was written. */
static void suggest_show(const struct fh_eval_results *results, const struct fh_opt_list *paths)
{
	uint64_t index = 0;
	size_t i = 0, file = 0;
	for (; i < results->count && (!results->items[i].done || results->items[i].success); i++)
		index += results->items[i].done;
	while (file < paths->count && !fh_streq(fh_path_ext(paths->items[file]), ".json"))
		file++;
	if (i == results->count || file == paths->count)
		return;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_buf_adds(&out, "The first that did not pass: ");
	fh_escape_shell(&out, fh_str(fh_command_name()));
	fh_buf_addf(&out, " eval --show %llu ", (unsigned long long)index);
	fh_escape_shell(&out, fh_str(paths->items[file]));
	fh_buf_addc(&out, '\n');
	fh_print(&out);
}

static void report(const struct eval_options *o, const struct fh_eval_plan *plan, const struct fh_eval_results *results)
{
	struct fh_report_options options = { .width = fh_term_width(STDOUT_FILENO),
		                                 .color = shows_color(o),
		                                 .rows_max = TABLE_ROWS_MAX,
		                                 .cell_max = o->cell_max };
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	bool table = o->table && plan->row_count < TABLE_TESTS_MAX;
	if (table)
		fh_report_table(plan, results, &options, &out);
	if (!table || plan->row_count > options.rows_max)
		fh_report_reasons(results, &options, &out);
	fh_report_summary(plan, results, &options, &out);
	fh_print(&out);
}

static void print_warnings(const struct fh_eval_config *c)
{
	char text[1400];
	for (size_t i = 0; i < c->warning_count; i++)
		fprintf(stderr, "warning: %s\n", fh_error_text(&c->warnings[i].error, text, sizeof(text)));
}

/* What had no effect stands where the results are read, too: a table can be longer than the screen. */
static void print_notes(const struct fh_eval_config *c)
{
	char text[1400];
	size_t n = 0;
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	for (size_t i = 0; i < c->warning_count; i++) {
		if (!c->warnings[i].with_results)
			continue;
		fh_buf_adds(&out, n++ ? "  " : "Not as the config says:\n  ");
		fh_escape_terminal(&out, fh_str(fh_error_text(&c->warnings[i].error, text, sizeof(text))), false);
		fh_buf_addc(&out, '\n');
	}
	if (n)
		fh_print(&out);
}

/* The files of -o, or else those of the config's outputPath. */
static int output_paths(const struct eval_options *o, const struct fh_eval_config *c, struct fh_opt_list *ret,
                        struct fh_error *err)
{
	const json_t *spec = json_object_get(c->root, "outputPath");
	for (size_t i = 0; i < o->outputs.count; i++)
		FH_PUSH(ret->items, ret->count, ret->capacity) = o->outputs.items[i];
	for (size_t i = 0; !o->outputs.count && i < (json_is_array(spec) ? json_array_size(spec) : spec != NULL); i++) {
		const char *path = json_string_value(json_is_array(spec) ? json_array_get(spec, i) : spec);
		const struct fh_output *kind;
		if (path && fh_output_for(path, &kind, err) < 0)
			return fh_document_place(c->document, "outputPath", err);
		if (path)
			FH_PUSH(ret->items, ret->count, ret->capacity) = path;
	}
	FH_PUSH(ret->items, ret->count, ret->capacity) = NULL;
	ret->count--;
	return 0;
}

static int write_outputs(const struct eval_options *o, const struct fh_eval_plan *plan,
                         const struct fh_eval_results *results, const struct fh_opt_list *paths, struct fh_error *err)
{
	struct fh_output_data data = {
		.plan = plan, .results = results, .description = o->description, .paths = paths->items
	};
	for (size_t i = 0; i < paths->count; i++) {
		int r = fh_output_write(&data, paths->items[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Errors count as not passed; of no tests at all, none failed. */
static int exit_status(const struct fh_eval_results *r)
{
	const char *wanted = getenv("PROMPTFOO_PASS_RATE_THRESHOLD"), *code = getenv("PROMPTFOO_FAILED_TEST_EXIT_CODE");
	size_t done = r->successes + r->failures + r->errors;
	double threshold = wanted && *wanted ? strtod(wanted, NULL) : 100;
	if (r->interrupted)
		return FH_EXIT_INTERRUPTED;
	if (done == 0 || 100.0 * (double)r->successes / (double)done >= threshold)
		return FH_EXIT_OK;
	return code && *code ? atoi(code) : EXIT_TESTS_FAILED;
}

/* ------------------------------------------------------------------------------------------------------ the command */

static int run_plan(const struct eval_options *o, const struct fh_eval_plan *plan, struct fh_services *services,
                    const struct fh_opt_list *paths, int *ret_status, struct fh_error *err)
{
	struct fh_progress *progress = fh_progress_new("eval", plan->cell_count, !o->progress_bar);
	struct fh_eval_run run = {
		.plan = plan, .services = services, .cancel = &fh_interrupted, .on_progress = on_progress, .context = progress
	};
	struct fh_eval_results results = { 0 };
	int r = fh_eval_run(&run, &results, err);
	fh_progress_free(progress);
	if (r < 0)
		return r;
	report(o, plan, &results);
	print_notes(&plan->config);
	r = write_outputs(o, plan, &results, paths, err);
	if (r == 0)
		suggest_show(&results, paths);
	*ret_status = exit_status(&results);
	if (r == 0 && results.hook_error.code != FH_OK) {
		*err = results.hook_error;
		r = -(int)err->code;
	}
	if (FREE_AT_END)
		fh_eval_results_release(&results);
	return r;
}

/* Whether answers are kept: the command line, else the config, else the environment says so. */
static bool uses_cache(const struct eval_options *o, const struct fh_eval_config *config)
{
	static const char *const sections[] = { "commandLineOptions", "evaluateOptions" };
	const char *on = getenv("PROMPTFOO_CACHE_ENABLED");
	if (o->cache_given)
		return o->cache;
	for (size_t i = 0; i < FH_ARRAY_SIZE(sections); i++) {
		const json_t *v = json_object_get(json_object_get(config->root, sections[i]), "cache");
		if (json_is_boolean(v))
			return json_is_true(v);
	}
	return !on || (!fh_streq(on, "false") && !fh_streq(on, "0"));
}

static int run_config(const struct eval_options *o, struct fh_eval_config *config, struct fh_replay *replay,
                      struct fh_record *record, int *ret_status, struct fh_error *err)
{
	struct fh_response_cache *cache = replay || !uses_cache(o, config) ? NULL : fh_response_cache_new(NULL, 0);
	const json_t *own_timeout = json_object_get(json_object_get(config->root, "evaluateOptions"), "timeoutMs");
	unsigned workers = o->overrides.concurrency ? (unsigned)FH_MIN(o->overrides.concurrency, 64) : 4;
	struct fh_services *services =
	    fh_services_new(&(struct fh_services_options){ .workers = workers,
	                                                   .env = json_object_get(config->root, "env"),
	                                                   .cancel = &fh_interrupted,
	                                                   .script_env = o->script_env.count ? o->script_env.items : NULL,
	                                                   .script_timeout_ms = o->script_timeout,
	                                                   .sandbox_scripts = o->sandbox_scripts,
	                                                   .dir = config->dir });
	struct fh_eval_provider_needs needs = { .scripts = fh_services_scripts(services),
		                                    .replay = replay,
		                                    .record = record,
		                                    .cache = cache,
		                                    .cancel = &fh_interrupted,
		                                    .timeout_ms = (uint64_t)FH_MAX(json_number_value(own_timeout), 0) };
	struct fh_opt_list paths = { 0 };
	struct fh_eval_plan plan = { 0 };
	int r = output_paths(o, config, &paths, err);
	if (r == 0)
		r = fh_eval_plan_make(config, &o->overrides, &needs, &plan, err);
	if (r == 0) {
		print_warnings(&plan.config);
		r = run_plan(o, &plan, services, &paths, ret_status, err);
		if (FREE_AT_END)
			fh_eval_plan_release(&plan);
		else
			fh_eval_providers_release(&plan.providers);
	}
	fh_opt_list_release(&paths);
	fh_services_free(services);
	fh_response_cache_free(cache);
	return r;
}

/* The configs of -c, or the one in this folder; an empty one when the command line says all that is needed. */
static int load_config(const struct eval_options *o, struct fh_eval_config *ret, struct fh_error *err)
{
	fh_auto_free char *found = o->configs.count || o->model_outputs ? NULL : fh_eval_config_find("");
	bool whole = o->overrides.prompts && o->overrides.providers;
	if (!o->configs.count && !found && !whole) {
		fh_error_set(err, FH_E_NOT_FOUND, "there is no promptfooconfig.yaml, .yml, .json, .js or .ts in this folder");
		fh_error_hint(err, "give the config with -c FILE, or prompts and providers with -p and -r");
		return -FH_E_NOT_FOUND;
	}
	if (!o->configs.count && !found) {
		fh_eval_config_empty(o->lenient, ret);
		return 0;
	}
	/* Workers of its own: those of the eval get the environment that the config itself says. */
	struct fh_script_pool *scripts = fh_script_pool_new(
	    &(struct fh_script_pool_options){ .handed_over = o->script_env.count ? o->script_env.items : NULL,
	                                      .timeout_ms = o->script_timeout,
	                                      .cancel = &fh_interrupted });
	struct fh_eval_config_options options = { .lenient = o->lenient, .scripts = scripts };
	const char *only[] = { found };
	int r = found ? fh_eval_config_load(only, 1, &options, ret, err)
	              : fh_eval_config_load(o->configs.items, o->configs.count, &options, ret, err);
	fh_script_pool_free(scripts);
	return r;
}

static int run_command(struct eval_options *o, int *ret_status, struct fh_error *err)
{
	if (o->show_given)
		return fh_eval_show(o->args.items[0], o->show, shows_color(o), err);
	int r = make_overrides(o, err);
	if (r == 0)
		r = load_env_file(o, err);
	if (r < 0)
		return r;
	struct fh_eval_config config = { 0 };
	struct fh_replay *replay = NULL;
	struct fh_record *record = NULL;
	const char *recordings = o->replay ? o->replay : getenv("FUMEHOOD_REPLAY");
	r = recordings && *recordings ? fh_replay_open(recordings, &replay, err) : 0;
	if (r == 0)
		r = load_config(o, &config, err);
	if (r == 0 && o->record)
		r = fh_record_open(o->record, &record, err);
	if (r == 0)
		r = run_config(o, &config, replay, record, ret_status, err);
	int closed = fh_record_close(record, r == 0 ? err : NULL);
	r = r == 0 ? closed : r;
	fh_eval_config_release(&config);
	fh_replay_free(replay);
	return r;
}

/* Commands of this program beside eval. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} others[] = { { "cache", fh_command_cache } };

int main(int argc, char **argv)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(others); i++) {
		if (!fh_streq(argv[0], others[i].name))
			continue;
		fh_command_inherit_name();
		return others[i].run(argc, argv);
	}
	struct eval_options o = { .overrides = { .filter = FH_EVAL_FILTER_INIT, .delay_ms = UINT64_MAX },
		                      .table = true,
		                      .progress_bar = true,
		                      .cell_max = 250 };
	struct fh_error err = FH_ERROR_INIT;
	int status = FH_EXIT_OK;
	fh_command_inherit_name();
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_interrupt_catch();
	signal(SIGPIPE, SIG_IGN);
	if (parse_options(argc, argv, &o, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (!o.help && run_command(&o, &status, &err) < 0)
		status = fh_command_failed(&err, fh_interrupted              ? FH_EXIT_INTERRUPTED
		                                 : err.code == FH_E_ARGUMENT ? FH_EXIT_USAGE
		                                                             : FH_EXIT_FAILED);
	release_options(&o);
	return fh_print_end(status, FH_EXIT_FAILED);
}
