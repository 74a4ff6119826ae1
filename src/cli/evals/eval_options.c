/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_options.h"

#include <stdio.h>
#include <unistd.h>

#include "base/path.h"
#include "eval/outputs/output.h"
#include "script/script.h"

static const char details[] =
    "The config is promptfoo's: prompts, providers and tests; beside promptfoo's assertions there is `code`, which "
    "runs the program in a model's answer in a sandbox and checks what it does.\n\n"
    "Environment: a .env file in the working directory is read, if there is one. FUMEHOOD_REPLAY=FILE answers every "
    "provider from recordings. PROMPTFOO_PASS_RATE_THRESHOLD (percent, default 100) is what has to pass for status "
    "0.\n\n"
    "Every row is in the store ($XDG_DATA_HOME/fumehood/store.db, or FUMEHOOD_STORE=FILE) as soon as it is done. "
    "Ctrl-C "
    "once finishes what is under way, twice stops; --resume continues.\n\n"
    "Examples:\n"
    "  fumehood eval\n"
    "  fumehood eval -c promptfooconfig.yaml -o results.json -j 8\n"
    "  fumehood eval --filter-pattern factorial --repeat 5 --no-table\n"
    "  fumehood eval --show 3 results.json\n\n"
    "Exit status: 0 every test passed; 100 some failed or met an error; 1 the config is wrong or results could not be "
    "written; 2 the command line is wrong; 130 interrupted, what was done is kept and written.";

/* ---------------------------------------------------------------------------------------------------------- options */

/* What the rows of the tables below fill in. Each parse begins with it empty and moves it to the caller's struct, as
 * `fumehood retry` reads two command lines: its own, and that of the eval which it goes on with. */
static struct fh_eval_options parsed;
#define OVERRIDES parsed.overrides

#define TEXT(name_, letter_, target_, argument_, help_)                                                                \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = FH_OPT_STRING, .target = target_, .argument = argument_,             \
		.help = help_                                                                                                  \
	}
#define LIST(name_, letter_, target_, argument_, help_)                                                                \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = FH_OPT_LIST, .target = target_, .argument = argument_, .help = help_ \
	}
/* A file that is written. */
#define WRITES(name_, letter_, kind_, target_, help_)                                                                  \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = kind_, .target = target_, .argument = "FILE",                        \
		.flags = FH_OPT_WRITES, .help = help_                                                                          \
	}
#define WORDS(name_, letter_, target_, argument_, help_)                                                               \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = FH_OPT_LIST, .target = target_, .argument = argument_,               \
		.flags = FH_OPT_VARIADIC, .help = help_                                                                        \
	}
#define NUMBER(name_, letter_, target_, argument_, help_)                                                              \
	{                                                                                                                  \
		.name = name_, .letter = letter_, .kind = FH_OPT_U64, .target = target_, .argument = argument_, .help = help_  \
	}
#define FLAG(name_, target_, help_)                                                                                    \
	{                                                                                                                  \
		.name = name_, .kind = FH_OPT_FLAG, .target = target_, .help = help_                                           \
	}
#define SWITCH(name_, target_, flags_, help_)                                                                          \
	{                                                                                                                  \
		.name = name_, .kind = FH_OPT_FLAG, .target = target_, .flags = FH_OPT_NEGATABLE | (flags_), .help = help_     \
	}

/* Rows that eval and retry have in common. */
#define MAX_CONCURRENCY                                                                                                \
	{                                                                                                                  \
		.name = "max-concurrency", .letter = 'j', .kind = FH_OPT_U64, .target = &parsed.jobs,                          \
		.given = &parsed.jobs_given, .argument = "N", .help = "Tests at a time.",                                      \
		.default_number = FH_OPT_NUMBER(FH_EVAL_CONCURRENCY_DEFAULT), .least = 1                                       \
	}
#define PROGRESS_BAR SWITCH("progress-bar", &parsed.progress_bar, FH_OPT_ON, "Show progress.")

static const struct fh_opt eval_table[] = {
	{ .name = "config",
	  .letter = 'c',
	  .kind = FH_OPT_LIST,
	  .target = &parsed.configs,
	  .argument = "FILE",
	  .flags = FH_OPT_VARIADIC,
	  .help = "A config, or a glob; several are joined.",
	  .default_words = "promptfooconfig.yaml, .yml, .json, .js, .ts …" },
	WRITES("output", 'o', FH_OPT_LIST, &parsed.outputs,
	       "Write results to FILE: .json, .jsonl, .csv, .yaml, .html, .md, .junit.xml, .xml, .prom."),
	MAX_CONCURRENCY,
	NUMBER("repeat", 0, &OVERRIDES.repeat, "N", "Run each test N times; from 2 on, pass@k and pass^k are reported."),
	NUMBER("delay", 0, &OVERRIDES.delay_ms, "MS", "Pause before each call of a provider; one call at a time."),
	TEXT("description", 0, &parsed.description, "TEXT", "The eval's description, in place of the config's."),
	{ .name = "env-file",
	  .kind = FH_OPT_LIST,
	  .target = &parsed.env_files,
	  .argument = "FILE",
	  .help = "Environment variables; they win over those that are set.",
	  .default_words = ".env, if it is there, which wins over none" },
	LIST("env-path", 0, &parsed.env_files, "FILE", "The same as --env-file."),
	LIST("tag", 0, &parsed.tags, "NAME=VALUE", "A tag of this eval in the store."),
	SWITCH("write", &parsed.write, FH_OPT_ON, "Keep the eval in the store."),
	{ .name = "watch",
	  .letter = 'w',
	  .kind = FH_OPT_FLAG,
	  .target = &parsed.watch,
	  .help = "Then wait, and when a file of the eval changes run again what it changed." },
	{ "", .help = "Answers that are there already" },
	{ .name = "cache",
	  .kind = FH_OPT_FLAG,
	  .target = &parsed.cache,
	  .given = &parsed.cache_given,
	  .flags = FH_OPT_NEGATABLE | FH_OPT_ON,
	  .help = "Keep answers of servers on disk for 14 days and use them again; `fumehood cache clear` forgets them." },
	WRITES("record", 0, FH_OPT_STRING, &parsed.record, "Add every answer to FILE, for --replay (JSONL)."),
	TEXT("replay", 0, &parsed.replay, "FILE",
	     "Answer every provider from FILE, and send no requests (also: FUMEHOOD_REPLAY=FILE)."),
	{ "", .help = "Your own scripts" },
	LIST("script-env", 0, &parsed.script_env, "NAME",
	     "Let scripts see this key or password (or pattern). They see no other."),
	{ .name = "script-timeout",
	  .kind = FH_OPT_U64,
	  .target = &parsed.script_timeout,
	  .argument = "MS",
	  .help = "The most that one call of a script may take.",
	  .default_number = FH_OPT_NUMBER(FH_SCRIPT_TIMEOUT_MS) },
	FLAG("sandbox-scripts", &parsed.sandbox_scripts,
	     "Run every call of a script in a sandbox that sees the config's folder, read-only."),
	{ "", .help = "Evals of the store" },
	FLAG("resume", &parsed.resume,
	     "Continue the interrupted eval ID (without one: the latest); tests that changed run again."),
	FLAG("retry-errors", &parsed.retry_errors, "The same, and also run again tests that ended in an error."),
	TEXT("attach", 0, &parsed.attach, "ID", "Show the progress of an eval that runs elsewhere."),
	FLAG("pause", &parsed.pause, "With --attach: begin no test until --go-on."),
	FLAG("go-on", &parsed.go_on, "With --attach: after --pause."),
	FLAG("cancel", &parsed.cancel, "With --attach: finish what is under way and end, as Ctrl-C does."),
	{ "", .help = "In place of the config's own" },
	WORDS("prompts", 'p', &parsed.prompts, "PROMPT", "A prompt, or a file of prompts."),
	WORDS("providers", 'r', &parsed.providers, "ID", "A provider."),
	TEXT("tests", 't', &parsed.tests, "FILE", "The file of tests."),
	TEXT("vars", 'v', &parsed.tests, "FILE", "The same as --tests."),
	TEXT("assertions", 'a', &parsed.assertions, "FILE", "Assertions for --model-outputs (YAML list)."),
	TEXT("model-outputs", 0, &parsed.model_outputs, "FILE",
	     "Check these answers (JSON: texts, or {output, tags}) and send no requests."),
	TEXT("grader", 0, &OVERRIDES.grader, "ID", "The provider that grades (for llm-rubric and similar assertions)."),
	LIST("extension", 'x', &parsed.extensions, "FILE", "Hooks, before the config's own."),
	FLAG("lenient", &parsed.lenient, "Warn of keys that look misspelt instead of refusing them."),
	LIST("var", 0, &parsed.vars, "NAME=VALUE", "A variable of every test that does not set it."),
	TEXT("prompt-prefix", 0, &OVERRIDES.prompt_prefix, "TEXT", "Put in front of every prompt."),
	TEXT("prompt-suffix", 0, &OVERRIDES.prompt_suffix, "TEXT", "Put behind every prompt."),
	{ "", .help = "Which tests" },
	NUMBER("filter-first-n", 'n', &OVERRIDES.filter.first_n, "N", "The first N."),
	TEXT("filter-pattern", 0, &OVERRIDES.filter.pattern, "REGEX", "Those whose description matches."),
	TEXT("filter-range", 0, &OVERRIDES.filter.range, "START:END", "From START (0 is the first) up to END - 1."),
	LIST("filter-metadata", 0, &parsed.metadata, "KEY=VALUE", "Those with this metadata."),
	TEXT("filter-failing", 0, &OVERRIDES.filter.failing, "RESULTS",
	     "Tests that did not pass in a results file, or in an eval of the store."),
	TEXT("filter-failing-only", 0, &OVERRIDES.filter.failing_only, "RESULTS", "Tests that failed an assertion there."),
	TEXT("filter-errors-only", 0, &OVERRIDES.filter.errors_only, "RESULTS", "Tests that ended in an error there."),
	NUMBER("filter-sample", 0, &OVERRIDES.filter.sample, "N", "N picked at random."),
	TEXT("filter-sample-seed", 0, &OVERRIDES.filter.sample_seed, "SEED",
	     "Seed of the sample: the same seed picks the same tests."),
	TEXT("filter-providers", 0, &parsed.filter_providers, "REGEX", "Providers by id or label."),
	TEXT("filter-targets", 0, &parsed.filter_providers, "REGEX", "The same as --filter-providers."),
	TEXT("filter-prompts", 0, &parsed.filter_prompts, "REGEX", "Prompts by label."),
	{ "", .help = "What is shown" },
	SWITCH("table", &parsed.table, FH_OPT_ON,
	       "Show results as a table, of fewer than 500 tests; the reasons that occur, with counts, where it does not "
	       "show all."),
	{ .name = "show",
	  .kind = FH_OPT_U64,
	  .target = &parsed.show,
	  .given = &parsed.show_given,
	  .argument = "INDEX",
	  .help = "Run nothing; show one result (0 is the first) of the results file that is named last." },
	{ .name = "table-cell-max-length",
	  .kind = FH_OPT_U64,
	  .target = &parsed.cell_max,
	  .argument = "N",
	  .help = "Bytes of a cell that are shown.",
	  .default_text = "250" },
	PROGRESS_BAR,
	{ .name = "color",
	  .kind = FH_OPT_FLAG,
	  .target = &parsed.color,
	  .given = &parsed.color_given,
	  .flags = FH_OPT_NEGATABLE,
	  .help = "Colours.",
	  .default_words = "on a terminal, unless NO_COLOR is set" },
	SWITCH("share", &parsed.share, FH_OPT_HIDDEN, "Accepted for compatibility with promptfoo; nothing is shared."),
	SWITCH("remote", &parsed.remote, FH_OPT_HIDDEN, "Taken for promptfoo's sake: only red teams are meant."),
	{ .name = "suggest-prompts",
	  .kind = FH_OPT_STRING,
	  .target = &parsed.suggest_prompts,
	  .argument = "N",
	  .flags = FH_OPT_HIDDEN,
	  .help = "Refused: prompts are not suggested." },
	SWITCH("verbose", &parsed.verbose, FH_OPT_HIDDEN, "Taken for promptfoo's sake."),
	{ 0 },
};
static const struct fh_command_line eval_line = {
	.program = "fumehood eval",
	.synopsis = "[OPTIONS] | --resume [ID] | --attach ID | --show INDEX RESULTS.json",
	.about = "Runs prompts x providers x tests as promptfooconfig.yaml says, and checks the answers.",
	.details = details,
	.options = eval_table
};

static const struct fh_opt retry_table[] = {
	FLAG("failures", &parsed.retry_failures,
	     "Also run again tests that failed an assertion, not only those that ended in an error."),
	TEXT("cell", 0, &parsed.cell, "ROW.COLUMN",
	     "Run one cell (0.0 is the first) alone, as a new eval; the stored one stays as it is."),
	TEXT("prompt-file", 0, &parsed.prompt_file, "FILE",
	     "With --cell: ask with this prompt in place of the cell's own; - is standard input."),
	WRITES("output", 'o', FH_OPT_LIST, &parsed.outputs,
	       "Write all results to FILE, instead of the files that the eval was begun with."),
	{ .name = "max-concurrency",
	  .letter = 'j',
	  .kind = FH_OPT_U64,
	  .target = &parsed.jobs,
	  .given = &parsed.jobs_given,
	  .argument = "N",
	  .help = "Tests at a time.",
	  .default_words = "as the eval was begun",
	  .least = 1 },
	SWITCH("table", &parsed.table, FH_OPT_ON, "Show results as a table."),
	PROGRESS_BAR,
	{ 0 },
};
static const struct fh_command_line retry_line = {
	.program = "fumehood retry",
	.synopsis = "[OPTIONS] [ID]",
	.about = "Runs again the tests of a stored eval (without ID: the latest) that ended in an error or have changed "
	         "since; keeps the other results.",
	.details = "Examples:\n"
	           "  fumehood retry\n"
	           "  fumehood retry --failures eval-aBc -o results.json\n"
	           "  fumehood retry --cell 3.0 --prompt-file better.txt eval-aBc\n\n"
	           "Exit status: as `fumehood eval`.",
	.options = retry_table
};

const struct fh_opt *fh_eval_options_table(void)
{
	return eval_table;
}

/* Moves what the command line says to *ret; with an error, too, as its lists are released there. */
static int parse(const struct fh_command_line *line, int argc, char **argv, struct fh_eval_options *ret,
                 struct fh_error *err)
{
	parsed = (struct fh_eval_options)FH_EVAL_OPTIONS_INIT;
	int r = fh_options_parse(line, argc, argv, false, &parsed.args, &parsed.help, err);
	if (r >= 0 && parsed.help)
		fh_options_help(line, parsed.help);
	/* Without the option the config may say how many. */
	if (parsed.jobs_given)
		parsed.overrides.concurrency = parsed.jobs;
	*ret = parsed;
	return r;
}

int fh_eval_retry_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err)
{
	int r = parse(&retry_line, argc, argv, o, err);
	if (r < 0 || o->help)
		return r;
	if (o->args.count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "retry takes one id");
	if (o->prompt_file && !o->cell)
		return fh_error_set(err, FH_E_ARGUMENT, "--prompt-file needs --cell ROW.COLUMN");
	if (o->cell && o->retry_failures)
		return fh_error_set(err, FH_E_ARGUMENT, "--cell and --failures exclude each other");
	o->retry_errors = true;
	return 0;
}

int fh_eval_options_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err)
{
	struct fh_eval_overrides *v = &o->overrides;
	int r = parse(&eval_line, argc, argv, o, err);
	if (r < 0 || o->help)
		return r;
	if (o->suggest_prompts) {
		fh_error_set(err, FH_E_ARGUMENT, "--suggest-prompts is not supported: prompts are not suggested");
		fh_error_hint(err, "-p takes several prompts, or a file of them, and compares them");
		return -FH_E_ARGUMENT;
	}
	if (o->show_given && o->args.count != 1)
		return fh_error_set(err, FH_E_ARGUMENT, "--show needs one results file: fumehood eval --show 3 results.json");
	bool again = o->resume || o->retry_errors;
	if (again && o->args.count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "--resume takes one id");
	if ((o->pause || o->go_on || o->cancel) && !o->attach)
		return fh_error_set(err, FH_E_ARGUMENT, "--pause, --go-on and --cancel need --attach ID");
	if (o->watch && (again || o->attach || o->show_given))
		return fh_error_set(err, FH_E_ARGUMENT,
		                    "--watch begins an eval: it excludes --resume, --retry-errors, --attach and --show");
	if (again && !o->write)
		return fh_error_set(err, FH_E_ARGUMENT, "--resume and --no-write exclude each other");
	if (o->args.count > 0 && !o->show_given && !again)
		return fh_error_set(err, FH_E_ARGUMENT, "\"%s\" is not an option; a config is given with -c", o->args.items[0]);
	if (!o->assertions != !o->model_outputs)
		return fh_error_set(err, FH_E_ARGUMENT, "--assertions and --model-outputs go together");
	for (size_t i = 0; i < o->outputs.count; i++) {
		const struct fh_output_kind *kind;
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
	struct fh_opt_list *const lists[] = { &o->configs,    &o->outputs,   &o->vars,       &o->prompts,
		                                  &o->providers,  &o->metadata,  &o->extensions, &o->tags,
		                                  &o->script_env, &o->env_files, &o->args };
	for (size_t i = 0; i < FH_ARRAY_SIZE(lists); i++)
		fh_opt_list_release(lists[i]);
	json_decref((json_t *)(uintptr_t)o->overrides.vars);
	json_decref((json_t *)(uintptr_t)o->overrides.prompts);
	json_decref((json_t *)(uintptr_t)o->overrides.providers);
	json_decref((json_t *)(uintptr_t)o->overrides.tests);
	json_decref((json_t *)(uintptr_t)o->overrides.assertions);
	fh_document_free_list((struct fh_document *)(uintptr_t)o->overrides.assertions_document);
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

static int load_list(const char *path, const char *what, struct fh_document **ret_document, json_t **ret,
                     struct fh_error *err)
{
	struct fh_document *d = NULL;
	int r = fh_document_load(path, &d, err);
	if (r == 0 && !json_is_array(d->root))
		r = fh_document_error(d, "", err, "the file must hold a list of %s", what);
	if (r == 0)
		*ret = json_incref(d->root);
	if (r == 0 && ret_document)
		*ret_document = d;
	else
		fh_document_free_list(d);
	return r;
}

/* Loads the answers of --model-outputs: each becomes a test, and the echo provider returns it. */
static int load_outputs(struct fh_eval_options *o, struct fh_error *err)
{
	json_t *assertions = NULL, *outputs = NULL;
	struct fh_document *document = NULL;
	int r = load_list(o->assertions, "assertions", &document, &assertions, err);
	if (r == 0)
		r = load_list(o->model_outputs, "answers", NULL, &outputs, err);
	o->overrides.assertions_document = document;
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
