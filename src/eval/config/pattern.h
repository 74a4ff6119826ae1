/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions of JavaScript, as configs and command lines have them (`new RegExp(text)`, no flags), compiled by
 * PCRE2.
 *
 * What the two languages read differently is translated: what is no escape in JavaScript stands for itself (`\h`,
 * `\A`), \s and \v are JavaScript's, a bracket in a class is a bracket. What JavaScript refuses is refused: inline
 * flags, atomic groups, possessive quantifiers, verbs. Not the same: a lookbehind must have a bounded length, and a
 * character outside the BMP counts as one.
 */
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "base/base.h"
#include "base/error.h"

/* FH_E_ARGUMENT, with what is wrong in JavaScript's words where those are known. pcre2_code_free() it. */
int fh_pattern_compile(struct fh_str pattern, pcre2_code **ret, struct fh_error *err);
/* The same with flags of JavaScript's: i, m and s; any other is not looked at. */
int fh_pattern_compile_flags(struct fh_str pattern, const char *flags, pcre2_code **ret, struct fh_error *err);
