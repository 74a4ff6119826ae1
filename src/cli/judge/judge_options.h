/* SPDX-License-Identifier: MIT */
/* The command line of `fumehood judge`. */
#pragma once
#include "cli/judge/judge_report.h"
#include "cli/shared/options.h"
#include "judge/batch.h"

struct fh_judge_options {
	const char *problems, *results, *report, *ks, *interpreter, *seed;
	uint64_t jobs, show, repeat;
	bool show_given, replace, packages, json, quiet, progress_bar, allow_in_process, self_check, write;
	uint64_t limits[FH_LIMIT_COUNT_];
	bool limit_given[FH_LIMIT_COUNT_];
	struct fh_opt_list args;
	json_t *argv; /* the words of the command line */
};

/* Reads the command line into the process's one set of options, which *ret is also when parsing failed. Prints the help
 * that was asked for. */
int fh_judge_options_parse(int argc, char **argv, const struct fh_judge_options **ret, enum fh_help *ret_help,
                           struct fh_error *err);
/* Whether the options go together; sets the report's list of k. */
int fh_judge_options_check(const struct fh_judge_options *o, struct fh_judge_report *report, struct fh_error *err);
void fh_judge_options_settings(const struct fh_judge_options *o, struct fh_judge_settings *ret);
void fh_judge_options_release(void);
