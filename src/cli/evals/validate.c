/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_commands.h"

#include <stdio.h>
#include "base/escape.h"
#include "base/process/launcher.h"
#include "base/path.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "eval/checking/graders.h"
#include "eval/common/env.h"
#include "eval/plan/unknown.h"
#include "eval/services/services.h"
#include "eval/plan/plan.h"
#include "script/script.h"

static struct fh_opt_list configs, env_files;
static bool json, lenient;
static const struct fh_opt options[] = {
	{ "config", 'c', FH_OPT_LIST, &configs, "FILE", "A config, or a glob; several are joined.",
	  .default_words = "the one here" },
	{ "env-file", 0, FH_OPT_LIST, &env_files, "FILE", "Environment variables; they win over those that are set.",
	  .default_words = ".env, if it is there, which wins over none" },
	{ "env-path", 0, FH_OPT_LIST, &env_files, "FILE", "The same as --env-file." },
	{ "lenient", 0, FH_OPT_FLAG, &lenient, NULL, "Warn of keys that look misspelt instead of refusing them." },
	{ "json", 0, FH_OPT_FLAG, &json, NULL, "Print {valid, errors, warnings, prompts, providers, tests, cells}." },
	{ 0 },
};
static const struct fh_command_line command_line = {
	.program = "fumehood validate",
	.synopsis = "[OPTIONS] [CONFIG…]",
	.about = "Checks a config as `fumehood eval` would read it, with its prompts, tests and providers, and sends no "
	         "requests. Scripts that the config names are run; API keys are not needed.",
	.details = "Exit status: 0 it is valid, 1 it is not, 2 for a wrong command line.",
	.options = options,
};

static int make_plan(struct fh_eval_config *config, struct fh_eval_plan *plan, struct fh_services **services,
                     struct fh_error *err)
{
	const struct fh_eval_overrides none = { .filter = FH_EVAL_FILTER_INIT, .delay_ms = UINT64_MAX };
	*services = fh_services_new(&(struct fh_services_options){
	    .workers = 2, .env = json_object_get(config->root, "env"), .cancel = &fh_interrupted, .dir = config->dir });
	const struct fh_eval_provider_needs needs = { .scripts = fh_services_scripts(*services),
		                                          .cancel = &fh_interrupted,
		                                          .look_only = true };
	return fh_eval_plan_make(config, &none, &needs, plan, err);
}

static json_t *error_json(const struct fh_error *e)
{
	json_t *o = json_object();
	json_object_set_new(o, "message", fh_json_bytes(fh_str(e->message)));
	if (e->file[0])
		json_object_set_new(o, "file", fh_json_bytes(fh_str(e->file)));
	if (e->line)
		json_object_set_new(o, "line", json_integer(e->line));
	if (e->hint[0])
		json_object_set_new(o, "hint", fh_json_bytes(fh_str(e->hint)));
	return o;
}

static void print_json(const struct fh_eval_plan *plan, const struct fh_eval_config *config, const struct fh_error *err)
{
	json_t *errors = json_array(), *warnings = json_array();
	if (err->code != FH_OK)
		json_array_append_new(errors, error_json(err));
	for (size_t i = 0; i < config->warning_count; i++)
		json_array_append_new(warnings, error_json(&config->warnings[i].error));
	fh_auto_json json_t *all = json_pack(
	    "{s:b, s:o, s:o, s:I, s:I, s:I, s:I}", "valid", (int)(err->code == FH_OK), "errors", errors, "warnings",
	    warnings, "prompts", (json_int_t)plan->prompts.count, "providers", (json_int_t)plan->provider_columns, "tests",
	    (json_int_t)plan->row_count, "cells", (json_int_t)plan->cell_count);
	fh_auto_free char *text = fh_json_text(all, 2);
	fh_printf("%s\n", text);
}

static void print_text(const struct fh_eval_plan *plan)
{
	char text[1400];
	for (size_t i = 0; i < plan->config.warning_count; i++)
		fprintf(stderr, "warning: %s\n", fh_error_text(&plan->config.warnings[i].error, text, sizeof(text)));
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	fh_escape_terminal(&out, fh_str(plan->config.path), false);
	fh_buf_addf(&out, " is valid: %zu prompt%s, %zu provider%s, %zu test%s; %zu answer%s to ask for.\n",
	            plan->prompts.count, plan->prompts.count == 1 ? "" : "s", plan->provider_columns,
	            plan->provider_columns == 1 ? "" : "s", plan->row_count, plan->row_count == 1 ? "" : "s",
	            plan->cell_count, plan->cell_count == 1 ? "" : "s");
	fh_print(&out);
}

static int load(struct fh_opt_list *names, struct fh_eval_config *ret, struct fh_error *err)
{
	fh_auto_free char *found = names->count ? NULL : fh_eval_config_find("");
	if (!names->count && !found) {
		fh_error_set(err, FH_E_NOT_FOUND, "there is no promptfooconfig.yaml, .yml, .json, .js or .ts in this folder");
		fh_error_hint(err, "name the config: fumehood validate FILE; `fumehood init` writes one");
		return -FH_E_NOT_FOUND;
	}
	struct fh_script_pool *scripts = fh_script_pool_new(&(struct fh_script_pool_options){ .cancel = &fh_interrupted });
	struct fh_eval_config_options o = { .lenient = lenient, .scripts = scripts };
	const char *only[] = { found };
	int r = found ? fh_eval_config_load(only, 1, &o, ret, err)
	              : fh_eval_config_load(names->items, names->count, &o, ret, err);
	fh_script_pool_free(scripts);
	return r;
}

static int validate(struct fh_opt_list *names, struct fh_error *err)
{
	struct fh_eval_config config = { 0 };
	struct fh_eval_plan plan = { 0 };
	struct fh_services *services = NULL;
	int r = fh_env_files_load(env_files.items, env_files.count, err);
	if (r == 0)
		r = fh_env_check(err);
	if (r == 0)
		r = load(names, &config, err);
	if (r == 0)
		r = make_plan(&config, &plan, &services, err);
	if (r == 0)
		fh_graders_warn(&plan);
	if (json)
		print_json(&plan, r == 0 ? &plan.config : &config, err);
	else if (r == 0)
		print_text(&plan);
	if (r == 0)
		fh_eval_plan_release(&plan);
	fh_eval_config_release(&config);
	fh_services_free(services);
	return r;
}

int fh_command_validate(int argc, char **argv)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help = FH_HELP_NONE;
	if (fh_launcher_start(&err) < 0)
		return fh_command_failed(&err, FH_EXIT_FAILED);
	fh_interrupt_catch();
	int r = fh_options_parse(&command_line, argc, argv, false, &args, &help, &err), status = FH_EXIT_OK;
	if (r < 0)
		status = fh_command_failed(&err, FH_EXIT_USAGE);
	else if (help)
		fh_options_help(&command_line, help);
	else if (validate(args.count ? &args : &configs, &err) < 0)
		status = json ? FH_EXIT_FAILED : fh_command_failed(&err, FH_EXIT_FAILED);
	fh_opt_list_release(&args);
	fh_opt_list_release(&configs);
	fh_opt_list_release(&env_files);
	return fh_print_end(status, FH_EXIT_FAILED);
}
