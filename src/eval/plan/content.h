/* SPDX-License-Identifier: MIT */
/*
 * A hash of all that a cell depends on: its prompt, its provider, its test with variables and assertions, the repeat's
 * number, and the content of every file that these name.
 *
 * Two cells with the same hash ask and check the same, so the answer of one can be used for the other; a change of a
 * test, a prompt or a script changes the hash. Keys may be asked for by several threads at once.
 */
#pragma once
#include "base/text/sha256.h"
#include "eval/plan/plan.h"

struct fh_eval_content;

FH_OWN struct fh_eval_content *fh_eval_content_new(const struct fh_eval_plan *plan);
void fh_eval_content_free(FH_NULLABLE struct fh_eval_content *c);
void fh_eval_content_key(struct fh_eval_content *c, size_t cell, char ret_hex[FH_SHA256_HEX]);
