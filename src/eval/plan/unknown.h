/* SPDX-License-Identifier: MIT */
/* Variables that templates use and no test has. A misspelt name would silently render as nothing, so there is a
 * warning. */
#pragma once
#include "eval/plan/plan.h"

/* Warns (fh_eval_config_note) once of each such name in the prompts and in the values of assertions. */
void fh_eval_note_unknown_vars(struct fh_eval_plan *p);
