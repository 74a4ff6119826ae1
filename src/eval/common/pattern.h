/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions: those of JavaScript, as configs and command lines have them (`new RegExp(text)`), compiled by
 * PCRE2; how any is matched; and patterns of our own, which are PCRE2's.
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

static inline void fh_pattern_freep(pcre2_code **p)
{
	pcre2_code_free(*p);
}
#define fh_auto_pattern FH_CLEANUP(fh_pattern_freep)

static inline void fh_pattern_groups_freep(pcre2_match_data **p)
{
	pcre2_match_data_free(*p);
}
#define fh_auto_pattern_groups FH_CLEANUP(fh_pattern_groups_freep)

/* Where the pattern matches first, from byte `from` on. Pattern and subject can be hostile, so the steps and the memory
 * of a match are bounded. Returns the number of groups set, as pcre2_match() does; 0: `groups` has no room for all;
 * -FH_E_NOT_FOUND without a message: it matches nowhere; FH_E_ARGUMENT: PCRE2's reason why it could not be tried to the
 * end. groups: NULL when only the answer counts. */
int fh_pattern_match(const pcre2_code *code, struct fh_str subject, size_t from, FH_NULLABLE pcre2_match_data *groups,
                     struct fh_error *err);
/* The same as yes or no; a match that could not be tried to the end is none. */
bool fh_pattern_found(const pcre2_code *code, struct fh_str subject);

/* A pattern that is part of our source, in PCRE2's own syntax with its options: whether it is found, and the text with
 * each place replaced (pcre2_substitute(); the text as it is, when that fails). */
bool fh_pattern_own_found(const char *pattern, uint32_t options, struct fh_str subject);
FH_OWN char *fh_pattern_own_replace(const char *pattern, uint32_t options, const char *text, const char *by);
