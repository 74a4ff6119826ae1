/* SPDX-License-Identifier: MIT */
/*
 * Peculiarities of MBPP+ (EvalPlus): inputs whose Python types were lost in JSON, and tasks with several correct
 * answers. Both depend on the task and are not in the data, so they are in tables here, as in EvalPlus's own program
 * (evalplus/data/mbpp.py, evalplus/eval/_special_oracle.py and evalplus/eval/__init__.py).
 */
#pragma once
#include "base/buf.h"

/* Whether the id is "Mbpp/" and a number. */
bool fh_mbpp_plus_is(const char *task_id);
/* Appends a Python expression for a list of arguments, given as JSON text that was parsed before. */
void fh_mbpp_plus_input(struct fh_buf *out, const char *task_id, struct fh_str arguments);
/* Constant: the rule of guest/python/test_plus.py that decides; "": equality. */
const char *fh_mbpp_plus_oracle(struct fh_str entry_point);
