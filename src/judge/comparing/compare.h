/* SPDX-License-Identifier: MIT */
/*
 * Whether what a program printed is what was expected. Both are bytes; neither is ever executed, and none of the
 * rules takes more than O(n log n).
 */
#pragma once
#include "base/base.h"

enum fh_compare {
	FH_COMPARE_TRIMMED,   /* line by line; blanks at the ends of lines and empty lines at the end do not count */
	FH_COMPARE_EXACT,     /* every byte */
	FH_COMPARE_TOKENS,    /* word by word, whatever blanks stand between them */
	FH_COMPARE_NUMBERS,   /* as tokens; where both are decimal numbers, within the tolerance */
	FH_COMPARE_UNORDERED, /* like FH_COMPARE_TRIMMED, but the lines may come in any order */
	FH_COMPARE_COUNT_
};
FH_NULLABLE const char *fh_compare_name(enum fh_compare rule); /* "trimmed", … */
/* The rule with that name; FH_COMPARE_COUNT_: there is none. */
enum fh_compare fh_compare_of_name(const char *name);

/* Whether the two texts are equal by the rule. tolerance: for FH_COMPARE_NUMBERS only; absolute, or relative to the
 * expected number, whichever allows more. */
bool fh_compare_output(enum fh_compare rule, struct fh_str got, struct fh_str expected, double tolerance);
