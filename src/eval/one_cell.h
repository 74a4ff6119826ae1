/* SPDX-License-Identifier: MIT */
/*
 * Reduces a plan to one of its cells, to run that alone once more, with its own prompt or another.
 *
 * The cell is described as the store has it (struct fh_store_documents, options.cell):
 *
 *     {"eval": "eval-aBc", "row": 3, "column": 0, "key": "9f…", "vars": {…}, "provider": "…", "prompt": "…"}
 *
 * eval, row, column: where it was; key: the hash of its content then (eval/plan/content.h); vars, provider: those of
 * its test and column; prompt: the template that replaces its own, if there is one.
 */
#pragma once
#include "eval/plan/plan.h"

/* Finds the cell by its hash, else by its place if variables and provider are still the same, and removes all others
 * from the plan. FH_E_ARGUMENT: the plan has no such cell any more. */
int fh_eval_plan_take_cell(struct fh_eval_plan *p, const json_t *cell, struct fh_error *err);
