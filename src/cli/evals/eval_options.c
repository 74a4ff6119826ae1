/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_options.h"

#include <stdio.h>
#include <unistd.h>

#include "base/path.h"
#include "eval/outputs/output.h"

static const char details[] =
    "The config is promptfoo's: prompts, providers and tests; beside promptfoo's assertions there is `code`, which "
    "runs the program in a model's answer in a sandbox and checks what it does.\n\n"
    "Environment: a .env file in the working directory is read, if there is one. FUMEHOOD_REPLAY=FILE answers every "
    "provider from recordings. PROMPTFOO_PASS_RATE_THRESHOLD (percent, default 100) is what has to pass for status "
    "0.\n\n"
    "Every row is in the store ($XDG_DATA_HOME/fumehood/store.db, or FUMEHOOD_STORE=FILE) as soon as it is done. "
    "Ctrl-C "
    "once finishes what is under way, twice stops; --resume goes on.\n\n"
    "Examples:\n"
    "  fumehood eval\n"
    "  fumehood eval -c promptfooconfig.yaml -o results.json -j 8\n"
    "  fumehood eval --filter-pattern factorial --repeat 5 --no-table\n"
    "  fumehood eval --show 3 results.json\n\n"
    "Exit status: 0 every test passed; 100 some failed or met an error; 1 the config is wrong or results could not be "
    "written; 2 the command line is wrong; 130 interrupted, what was done is kept and written.";

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

int fh_eval_options_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err)
{
	struct fh_eval_overrides *v = &o->overrides;
	const struct fh_opt table[] = {
		OPT("config", 'c', FH_OPT_LIST, &o->configs, "FILE",
		    "A config, or a glob; several are joined (default: promptfooconfig.yaml, .yml, .json, .js, .ts …)."),
		OPT("output", 'o', FH_OPT_LIST, &o->outputs, "FILE",
		    "Write results there: .json, .jsonl, .csv, .yaml, .html, .md, .junit.xml, .xml, .prom; repeatable."),
		{ .name = "max-concurrency",
		  .letter = 'j',
		  .kind = FH_OPT_U64,
		  .target = &v->concurrency,
		  .given = &o->jobs_given,
		  .argument = "N",
		  .help = "Tests at a time (default 4)." },
		OPT("repeat", 0, FH_OPT_U64, &v->repeat, "N",
		    "Run each test so many times; from 2 on pass@k and pass^k are told."),
		OPT("delay", 0, FH_OPT_U64, &v->delay_ms, "MS", "Pause before each call of a provider; one call at a time."),
		OPT("description", 0, FH_OPT_STRING, &o->description, "TEXT",
		    "The eval's description, in place of the config's."),
		OPT("env-file", 0, FH_OPT_STRING, &o->env_file, "FILE",
		    "Environment variables (default: .env, if it is there)."),
		OPT("env-path", 0, FH_OPT_STRING, &o->env_file, "FILE", "The same as --env-file."),
		{ .name = "tag",
		  .kind = FH_OPT_LIST,
		  .target = &o->tags,
		  .argument = "NAME=VALUE",
		  .help = "A tag of this eval in the store; repeatable." },
		SWITCH("write", &o->write, NULL, 0, "Keep the eval in the store (the default)."),
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
		OPT("", 0, FH_OPT_FLAG, NULL, NULL, "Evals of the store"),
		{ .name = "resume",
		  .kind = FH_OPT_FLAG,
		  .target = &o->resume,
		  .help =
		      "Go on with the eval ID (default: the latest) where it was interrupted; tests that changed run again." },
		{ .name = "retry-errors",
		  .kind = FH_OPT_FLAG,
		  .target = &o->retry_errors,
		  .help = "The same, and run again what met an error." },
		OPT("attach", 0, FH_OPT_STRING, &o->attach, "ID", "Show the progress of an eval that runs elsewhere."),
		{ .name = "pause",
		  .kind = FH_OPT_FLAG,
		  .target = &o->pause,
		  .help = "With --attach: begin no test until --go-on." },
		{ .name = "go-on", .kind = FH_OPT_FLAG, .target = &o->go_on, .help = "With --attach: after --pause." },
		{ .name = "cancel",
		  .kind = FH_OPT_FLAG,
		  .target = &o->cancel,
		  .help = "With --attach: finish what is under way and end, as Ctrl-C does." },
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
		OPT("filter-failing", 0, FH_OPT_STRING, &v->filter.failing, "RESULTS",
		    "Those that did not pass in a results file, or in an eval of the store."),
		OPT("filter-failing-only", 0, FH_OPT_STRING, &v->filter.failing_only, "RESULTS",
		    "Those of them that failed an assertion."),
		OPT("filter-errors-only", 0, FH_OPT_STRING, &v->filter.errors_only, "RESULTS",
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
		SWITCH("share", &o->share, NULL, FH_OPT_HIDDEN, "Taken for promptfoo's sake: nothing is shared."),
		SWITCH("verbose", &o->verbose, NULL, FH_OPT_HIDDEN, "Taken for promptfoo's sake."),
		{ 0 },
	};
	const struct fh_command_line line = {
		.program = "fumehood eval",
		.synopsis = "[OPTIONS] | --resume [ID] | --attach ID | --show INDEX RESULTS.json",
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
	bool again = o->resume || o->retry_errors;
	if (again && o->args.count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "--resume takes one id");
	if ((o->pause || o->go_on || o->cancel) && !o->attach)
		return fh_error_set(err, FH_E_ARGUMENT, "--pause, --go-on and --cancel need --attach ID");
	if (again && !o->write)
		return fh_error_set(err, FH_E_ARGUMENT, "--resume and --no-write exclude each other");
	if (o->args.count > 0 && !o->show_given && !again)
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

void fh_eval_options_release(struct fh_eval_options *o)
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

/* Makes a path absolute: the command line's are relative to the working directory, not to the config. */
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

/* Loads the answers of --model-outputs: each becomes a test, and the echo provider returns it. */
static int load_outputs(struct fh_eval_options *o, struct fh_error *err)
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

int fh_eval_options_load(struct fh_eval_options *o, struct fh_error *err)
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
