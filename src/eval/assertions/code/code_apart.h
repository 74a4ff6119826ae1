/* SPDX-License-Identifier: MIT */
/*
 * Expressions over calls of one function, which are judged apart from the program: "len(words('a b'))", which is
 * expected to be 2, or "factorial(5) == 120", which is expected to be true.
 *
 * In the program's process, such an expression would tell the program what is expected of it, and the program could
 * decide what it gives. So the cases become a test (guest/NAME/compared.*), which is judged as `tests` are: the
 * program's sandbox gets the calls, and the expression is evaluated in the other.
 *
 * That needs an expression that names nothing but the function, literals, and what the language itself does with plain
 * values. The spec's text decides it alone: the program has no say.
 */
#pragma once
#include "eval/assertions/code/code_spec.h"

/* The name of the one function that all cases of the spec call, if at least one of them is an expression over the call
 * and all can be judged apart. NULL: they cannot, or need not. free() it. */
FH_OWN FH_NULLABLE char *fh_code_apart_function(const struct fh_code_spec *spec);
/* The spec of the test. *ret has to be released. */
int fh_code_apart_tests(const struct fh_code_spec *spec, const char *function, struct fh_code_spec *ret,
                        struct fh_error *err);
