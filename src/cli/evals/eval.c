/* SPDX-License-Identifier: MIT */
/* Program fumehood-eval: `fumehood eval` and `fumehood retry`. */
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process/launcher.h"
#include "base/path.h"
#include "cli/evals/eval_again.h"
#include "cli/evals/eval_commands.h"
#include "cli/evals/eval_run.h"
#include "cli/evals/eval_show.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "eval/checking/graders.h"
#include "eval/common/env.h"
#include "eval/one_cell.h"
#include "eval/outputs/output.h"
#include "provider/cache.h"
#include "provider/record.h"
#include "provider/replay.h"
#include "script/script.h"

static void print_warnings(const struct fh_eval_config *c)
{
	char text[1400];
	for (size_t i = 0; i < c->warning_count; i++)
		fprintf(stderr, "warning: %s\n", fh_error_text(&c->warnings[i].error, text, sizeof(text)));
}

/* The files of -o; without -o, those of the config's outputPath, which are for results of all its cells. */
static int output_paths(const struct fh_eval_options *o, const struct fh_eval_config *c, bool one_cell,
                        struct fh_opt_list *ret, struct fh_error *err)
{
	const json_t *spec = one_cell ? NULL : json_object_get(c->root, "outputPath");
	for (size_t i = 0; i < o->outputs.count; i++)
		FH_PUSH(ret->items, ret->count, ret->capacity) = o->outputs.items[i];
	for (size_t i = 0; !o->outputs.count && i < (json_is_array(spec) ? json_array_size(spec) : spec != NULL); i++) {
		const char *path = json_string_value(json_is_array(spec) ? json_array_get(spec, i) : spec);
		const struct fh_output_kind *kind;
		if (path && fh_output_for(path, &kind, err) < 0)
			return fh_document_place(c->document, "outputPath", err);
		if (path)
			FH_PUSH(ret->items, ret->count, ret->capacity) = path;
	}
	FH_PUSH(ret->items, ret->count, ret->capacity) = NULL;
	ret->count--;
	return 0;
}

/* Loads the configs of -c, or the one in the current folder. When the command line gives everything that is needed, the
 * config is empty. */
static int load_config(const struct fh_eval_options *o, struct fh_eval_config *ret, struct fh_error *err)
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
	/* A pool only for loading configs: the config that is loaded sets the environment of the eval's own workers. */
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

/* What an eval needs beside its options. */
struct start {
	const json_t *argv;
	FH_NULLABLE const struct fh_eval_earlier *earlier; /* the eval to continue; NULL: a new one */
	FH_NULLABLE const json_t *cell;                    /* the one cell that is run (eval/one_cell.h); NULL: all */
	enum fh_eval_again again;
	const struct fh_eval_report *report;
};

/* Whether answers are cached: by the command line, else by the config, else by the environment. */
static bool uses_cache(const struct fh_eval_options *o, const struct fh_eval_config *config)
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

static int run_config(const struct fh_eval_options *o, const struct start *start, struct fh_eval_config *config,
                      struct fh_replay *replay, struct fh_record *record, int *ret_status, struct fh_error *err)
{
	struct fh_response_cache *cache = replay || !uses_cache(o, config) ? NULL : fh_response_cache_new(NULL, 0);
	const json_t *own_timeout = json_object_get(json_object_get(config->root, "evaluateOptions"), "timeoutMs");
	uint64_t timeout_ms = 0;
	unsigned workers = (unsigned)FH_MIN(o->jobs, 64);
	struct fh_services *services =
	    fh_services_new(&(struct fh_services_options){ .workers = workers,
	                                                   .env = json_object_get(config->root, "env"),
	                                                   .cancel = &fh_interrupted,
	                                                   .script_env = o->script_env.count ? o->script_env.items : NULL,
	                                                   .script_timeout_ms = o->script_timeout,
	                                                   .sandbox_scripts = o->sandbox_scripts,
	                                                   .dir = config->dir });
	int r = fh_env_number("PROMPTFOO_EVAL_TIMEOUT_MS", UINT32_MAX, &timeout_ms, err);
	if (json_number_value(own_timeout) > 0)
		timeout_ms = (uint64_t)json_number_value(own_timeout);
	struct fh_eval_provider_needs needs = { .scripts = fh_services_scripts(services),
		                                    .replay = replay,
		                                    .record = record,
		                                    .cache = cache,
		                                    .cancel = &fh_interrupted,
		                                    .timeout_ms = timeout_ms };
	struct fh_opt_list paths = { 0 };
	struct fh_eval_plan plan = { 0 };
	if (r == 0)
		r = output_paths(o, config, start->cell != NULL, &paths, err);
	if (r == 0)
		r = fh_eval_plan_make(config, &o->overrides, &needs, &plan, err);
	if (r == 0 && start->cell && (r = fh_eval_plan_take_cell(&plan, start->cell, err)) < 0)
		fh_eval_plan_release(&plan);
	fh_eval_report_end(start->report, r == 0 ? &plan.config : config, r == 0 ? &plan : NULL);
	if (r == 0) {
		const struct fh_eval_session session = { .options = o,
			                                     .plan = &plan,
			                                     .services = services,
			                                     .paths = &paths,
			                                     .argv = start->argv,
			                                     .resume = start->earlier ? start->earlier->id : NULL,
			                                     .created_ms = start->earlier ? start->earlier->created_ms : 0,
			                                     .cell = start->cell,
			                                     .again = start->again,
			                                     .report = start->report };
		fh_graders_warn(&plan);
		print_warnings(&plan.config);
		r = o->overrides.grader ? fh_graders_check(&plan, o->overrides.grader, err) : 0;
		r = r < 0 ? r : fh_eval_session_run(&session, ret_status, err);
		if (FH_FREE_AT_END)
			fh_eval_plan_release(&plan);
		else
			fh_eval_providers_release(&plan.providers);
	}
	fh_opt_list_release(&paths);
	fh_services_free(services);
	fh_response_cache_free(cache);
	return r;
}

static int run_eval(struct fh_eval_options *o, const struct start *start, int *ret_status, struct fh_error *err)
{
	fh_eval_report_begin(start->report);
	int r = fh_eval_options_load(o, err);
	if (r == 0)
		r = fh_env_files_load(o->env_files.items, o->env_files.count, err);
	if (r == 0)
		r = fh_env_check(err);
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
		r = run_config(o, start, &config, replay, record, ret_status, err);
	int closed = fh_record_close(record, r == 0 ? err : NULL);
	r = r == 0 ? closed : r;
	fh_eval_config_release(&config);
	fh_replay_free(replay);
	return r;
}

/* Continues a stored eval, or runs one of its cells again, with the options with which it was begun. */
static int go_on(const struct fh_eval_options *given, const struct fh_eval_report *report, int *ret_status,
                 struct fh_error *err)
{
	struct fh_eval_earlier earlier = { 0 };
	struct fh_eval_options o = FH_EVAL_OPTIONS_INIT;
	int r = fh_eval_earlier_find(given->args.count ? given->args.items[0] : "latest", &earlier, err);
	if (r == 0 && given->cell)
		r = fh_eval_earlier_take_cell(&earlier, given, err);
	if (r == 0)
		r = fh_eval_earlier_options(&earlier, given, &o, err);
	const struct start start = { .argv = earlier.argv,
		                         .earlier = given->cell ? NULL : &earlier,
		                         .cell = earlier.cell,
		                         .report = report,
		                         .again = given->retry_failures ? FH_EVAL_AGAIN_FAILED
		                                  : given->retry_errors ? FH_EVAL_AGAIN_ERRORS
		                                                        : FH_EVAL_AGAIN_MISSING };
	if (r == 0)
		r = run_eval(&o, &start, ret_status, err);
	fh_eval_options_release(&o);
	fh_eval_earlier_release(&earlier);
	return r;
}

static const struct fh_eval_report unwatched = { .fd = -1 };

static int run_command(struct fh_eval_options *o, const json_t *argv, int *ret_status, struct fh_error *err)
{
	enum fh_color_mode mode = !o->color_given ? FH_COLOR_AUTO : o->color ? FH_COLOR_ALWAYS : FH_COLOR_NEVER;
	if (o->show_given)
		return fh_eval_show(o->args.items[0], o->show, fh_term_color(STDOUT_FILENO, mode), err);
	if (o->attach)
		return fh_eval_attach(o, ret_status, err);
	if (o->resume || o->retry_errors)
		return go_on(o, &unwatched, ret_status, err);
	return run_eval(o, &(struct start){ .argv = argv, .report = &unwatched }, ret_status, err);
}

static json_t *argv_json(int argc, char **argv)
{
	json_t *list = json_array();
	for (int i = 0; i < argc; i++)
		json_array_append_new(list, fh_json_bytes(fh_str(argv[i])));
	return list;
}

/* Commands of this program beside eval. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} others[] = {
	{ "cache", fh_command_cache },
	{ "init", fh_command_init },
	{ "schema", fh_command_schema },
	{ "validate", fh_command_validate },
};

/* Lets glibc take memory for each thread in large steps: by default the heaps of threads grow page by page, with a
 * system call each. Pages that are not used take no memory. */
static void take_memory_in_large_steps(void)
{
#ifdef __GLIBC__
	mallopt(M_TOP_PAD, 4 << 20);
#endif
}

/* The user's scripts run with the user's rights. Without this, /proc shows them this process's environment and memory,
 * and with it the keys that they are not named for. */
static void hide_keys_from_scripts(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

static int failed(const struct fh_error *err)
{
	return fh_command_failed(err, fh_interrupted               ? FH_EXIT_INTERRUPTED
	                              : err->code == FH_E_ARGUMENT ? FH_EXIT_USAGE
	                                                           : FH_EXIT_FAILED);
}

/* What a process that runs an eval does first. */
static int prepare(struct fh_error *err)
{
	take_memory_in_large_steps();
	if (fh_launcher_start(err) < 0)
		return -(int)err->code;
	fh_interrupt_catch();
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

struct watched {
	struct fh_eval_options *options;
	const json_t *argv;
};

/* A run of --watch, in a process of its own: tests that ended in an error are run again with those that changed. */
static int run_watched(void *context, const struct fh_eval_report *report, const char *id)
{
	struct watched *w = context;
	struct fh_eval_options again = FH_EVAL_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	int status = FH_EXIT_OK, r = prepare(&err);
	if (r == 0 && id) {
		again.retry_errors = true;
		again.table = w->options->table;
		again.progress_bar = w->options->progress_bar;
		FH_PUSH(again.args.items, again.args.count, again.args.capacity) = id;
		r = go_on(&again, report, &status, &err);
	} else if (r == 0) {
		r = run_eval(w->options, &(struct start){ .argv = w->argv, .report = report }, &status, &err);
	}
	fh_eval_options_release(&again);
	return fh_print_end(r < 0 ? failed(&err) : status, FH_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	hide_keys_from_scripts();
	for (size_t i = 0; i < FH_ARRAY_SIZE(others); i++) {
		if (!fh_streq(argv[0], others[i].name))
			continue;
		fh_command_inherit_name();
		return fh_print_end(others[i].run(argc, argv), FH_EXIT_FAILED);
	}
	struct fh_eval_options o = FH_EVAL_OPTIONS_INIT;
	struct fh_error err = FH_ERROR_INIT;
	int status = FH_EXIT_OK;
	fh_command_inherit_name();
	bool retry = fh_streq(fh_path_base(argv[0]), "retry");
	fh_auto_json json_t *began = argv_json(argc, argv);
	if ((retry ? fh_eval_retry_parse : fh_eval_options_parse)(argc, argv, &o, &err) < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (o.help)
		status = FH_EXIT_OK;
	else if (o.watch && fh_eval_watch(run_watched, &(struct watched){ &o, began }, &status, &err) < 0)
		status = failed(&err);
	else if (!o.watch && (prepare(&err) < 0 || run_command(&o, began, &status, &err) < 0))
		status = failed(&err);
	fh_eval_options_release(&o);
	return fh_print_end(status, FH_EXIT_FAILED);
}
