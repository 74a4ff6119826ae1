/* SPDX-License-Identifier: MIT */
/*
 * What the assertions `code` and `sandbox` share: from what was asked for (code_spec.h) to a grade of the output.
 */
#pragma once
#include "eval/assertions/code_spec.h"

/* Takes the program out of the output, runs it, and grades what it did. */
int fh_code_grade(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_grade *ret,
                  struct fh_error *err);
/* What a program prints that runs as a whole, with what the spec has behind it. Where it does not end well, `ret` gets
 * nothing and *ret_why (free it) says how it ended. */
int fh_code_output_of(const struct fh_assertion_call *call, const struct fh_code_spec *spec, struct fh_str program,
                      struct fh_str input, struct fh_buf *ret, FH_OWN char **ret_why, struct fh_error *err);
