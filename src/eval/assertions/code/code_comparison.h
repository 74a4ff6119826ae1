/* SPDX-License-Identifier: MIT */
/*
 * Calls of a function that are compared with a literal: "factorial(5) == 120", which is expected to be true.
 *
 * In the program's process, the expression would tell the program what is expected of it. So it becomes a test
 * (guest/NAME/compared.*), which is judged apart from the program, as `tests` are: the program's sandbox gets the call,
 * and the comparison is made in the other.
 */
#pragma once
#include "eval/assertions/code/code_spec.h"

/* The name of the one function whose calls are compared with literals in all cases of the spec, each of which is
 * expected to be true or false; NULL: the spec has another case. It goes by the spec alone. free() it. */
FH_OWN FH_NULLABLE char *fh_code_compared_function(const struct fh_code_spec *spec);
/* The spec of the test. *ret has to be released. */
int fh_code_comparison_tests(const struct fh_code_spec *spec, const char *function, struct fh_code_spec *ret,
                             struct fh_error *err);
