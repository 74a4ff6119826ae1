/* SPDX-License-Identifier: MIT */
/*
 * What the assertions `code` and `sandbox` share: they read their fields into a spec (code_spec.h), and this grades an
 * output by it.
 */
#pragma once
#include "eval/assertions/code/code_spec.h"

/* Takes the program out of the output, runs it, and grades what it did. */
int fh_code_grade(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_grade *ret,
                  struct fh_error *err);
/* Runs a program as a whole, with the spec's `behind` appended, and gives what it printed. When the program did not end
 * well, the buffer stays empty and *ret_why (free() it) says how it ended. */
int fh_code_output_of(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_str program,
                      struct fh_str input, struct fh_buf *ret, FH_OWN char **ret_why, struct fh_error *err);
