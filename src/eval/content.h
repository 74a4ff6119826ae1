/* SPDX-License-Identifier: MIT */
/*
 * What a cell is made of, as one hash: its prompt, its provider, its test with variables and assertions, which repeat
 * it is, and the content of every file that these name. Two cells with the same hash ask the same and check it in the
 * same way, so that the answer of one need not be asked for again; a test, a prompt or a script that was changed gives
 * another.
 *
 * Not for several threads at once.
 */
#pragma once
#include "base/sha256.h"
#include "eval/plan.h"

struct fh_eval_content;

FH_OWN struct fh_eval_content *fh_eval_content_new(const struct fh_eval_plan *plan);
void fh_eval_content_free(FH_NULLABLE struct fh_eval_content *c);
void fh_eval_content_key(struct fh_eval_content *c, size_t cell, char ret_hex[FH_SHA256_HEX]);
