/* SPDX-License-Identifier: MIT */
/*
 * Results that are no finite numbers: NaN and the infinities. Tests that compare numbers with a tolerance often accept
 * them in place of any number: `if (abs(got - want) > 1e-4) return false` accepts a NaN, and `abs(got - want) <= 1e-6 *
 * max(abs(got), abs(want))` an infinity. So the drivers of split judging tell whether there was such a number among the
 * program's results; JavaScript's tells the same of a text or an object that becomes NaN in the test's arithmetic. If
 * the test passes, is not about such numbers, and the reference passes it without one, the program has failed.
 */
#pragma once
#include "base/base.h"

/* The reason given by a driver (struct fh_split_message) that passed a program with such a number in a result. */
#define FH_NOT_FINITE "not finite"

/* Whether a test mentions NaN or infinity by a name that they have in the judged languages. */
bool fh_not_finite_mentioned(struct fh_str test);
