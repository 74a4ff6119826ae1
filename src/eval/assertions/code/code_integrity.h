/* SPDX-License-Identifier: MIT */
#pragma once
#include "eval/assertions/code/code_spec.h"

/* FH_INTEGRITY_OUTSIDE or FH_INTEGRITY_IN_PROCESS, for a spec without `tests`. It goes by the spec alone: the program
 * has no say in it. */
const char *fh_code_integrity(const struct fh_code_spec *spec);
/* Whether the expression is a call of `function` and nothing around it, or a name. NULL: of a function that is not the
 * language's own. */
bool fh_code_gives_a_result(struct fh_str call, FH_NULLABLE const char *function, const char *language);
