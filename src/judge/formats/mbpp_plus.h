/* SPDX-License-Identifier: MIT */
/*
 * What is special in MBPP+ (EvalPlus): its inputs, which JSON has robbed of their types, and tasks that have more than
 * one right answer. Both hang on the task and stand nowhere in the data, so tables have them, as EvalPlus's own
 * program does (evalplus/data/mbpp.py, evalplus/eval/_special_oracle.py and evalplus/eval/__init__.py).
 */
#pragma once
#include "base/buf.h"

/* "Mbpp/" and a number. */
bool fh_mbpp_plus_is(const char *task_id);
/* Appends a Python expression for one list of arguments (JSON text that has been parsed before). */
void fh_mbpp_plus_input(struct fh_buf *out, const char *task_id, struct fh_str arguments);
/* Static: the rule of guest/python/test_plus.py that decides; "": equality. */
const char *fh_mbpp_plus_oracle(struct fh_str entry_point);
