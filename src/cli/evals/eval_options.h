/* SPDX-License-Identifier: MIT */
/* The command line of `fumehood eval`, and its overrides of the config. */
#pragma once
#include "cli/shared/options.h"
#include "eval/plan/plan.h"

struct fh_eval_options {
	struct fh_opt_list configs, outputs, vars, prompts, providers, metadata, extensions, tags, script_env, env_files,
	    args;
	const char *tests, *description, *filter_providers, *filter_prompts, *assertions, *model_outputs, *record, *replay;
	struct fh_eval_overrides overrides;
	uint64_t cell_max, show, script_timeout, jobs;
	/* The id of another eval, or "latest". */
	FH_NULLABLE const char *attach;
	FH_NULLABLE const char *suggest_prompts; /* refused */
	/* `fumehood retry`: the cell to run alone, "ROW.COLUMN", and the file with its new prompt. */
	FH_NULLABLE const char *cell, *prompt_file;
	bool resume, retry_errors, retry_failures, pause, go_on, cancel, watch;
	bool table, progress_bar, color, color_given, cache, cache_given, write, share, remote, verbose, lenient,
	    show_given, jobs_given, sandbox_scripts;
	enum fh_help help;
};

#define FH_EVAL_OPTIONS_INIT                                                                                           \
	{                                                                                                                  \
		.overrides = {.filter = FH_EVAL_FILTER_INIT, .delay_ms = UINT64_MAX }                                          \
	}

/* The struct is released even when parsing fails. */
int fh_eval_options_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err);
/* The command line of `fumehood retry`, as the options of `fumehood eval`. */
int fh_eval_retry_parse(int argc, char **argv, struct fh_eval_options *o, struct fh_error *err);
void fh_eval_options_release(struct fh_eval_options *o);
/* The rows of `fumehood eval`, from which `fumehood schema` describes the config's commandLineOptions. */
const struct fh_opt *fh_eval_options_table(void);
/* Makes overrides of the command line's prompts, providers, tests, variables and answers. */
int fh_eval_options_load(struct fh_eval_options *o, struct fh_error *err);
