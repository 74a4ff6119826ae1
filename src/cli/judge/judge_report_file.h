/* SPDX-License-Identifier: MIT */
/* The file of `judge --report`. */
#pragma once
#include "cli/judge/judge_keep.h"
#include "cli/judge/judge_report.h"

/* Writes the file in the form that its name says: .html and .md are the report that `fumehood report` writes, from the
 * store, or, if the judgement is not there, from the rows of the results file, which lack what only the store keeps;
 * .json is the summary as `judge --json` prints it, and any other name gets the summary as text. */
int fh_judge_report_file(const struct fh_judge_report *r, const struct fh_judge_keep *what, const char *show_command,
                         const char *path, struct fh_error *err);
