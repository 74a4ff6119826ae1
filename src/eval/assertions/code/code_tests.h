/* SPDX-License-Identifier: MIT */
/*
 * The `tests` of a `code` assertion: a test as text, which calls a function of the answer's program, judged as
 * `fumehood judge` judges a generic row of a data set: apart from the program wherever the language and the test allow
 * it (judge/split/split.h).
 */
#pragma once
#include "eval/assertions/code/code_spec.h"
#include "judge/session/session.h"

/* Judges the program `code`. Returns 0 with the program's outcome; a negative code when there is no verdict: the fields
 * do not describe a task (FH_E_CONFIG), or judging did not work on this host. */
int fh_code_tests_run(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_str code,
                      struct fh_client *client, struct fh_judge_outcome *ret, struct fh_error *err);
