/* SPDX-License-Identifier: MIT */
/* Variables that templates ask for and that no test has: a slip in a name renders as nothing, so it is told. */
#pragma once
#include "eval/plan.h"

/* Notes (fh_eval_config_note) each such name of the prompts, and of the assertions' values, once. */
void fh_eval_note_unknown_vars(struct fh_eval_plan *p);
