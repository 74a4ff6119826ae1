/* SPDX-License-Identifier: MIT */
/* Every kind of assertion; the table (table.c) lists them. */
#pragma once
#include "eval/assertion.h"

extern const struct fh_assertion fh_assertion_equals;
extern const struct fh_assertion fh_assertion_contains;
extern const struct fh_assertion fh_assertion_icontains;
extern const struct fh_assertion fh_assertion_contains_any;
extern const struct fh_assertion fh_assertion_contains_all;
extern const struct fh_assertion fh_assertion_icontains_any;
extern const struct fh_assertion fh_assertion_icontains_all;
extern const struct fh_assertion fh_assertion_starts_with;
extern const struct fh_assertion fh_assertion_regex;
extern const struct fh_assertion fh_assertion_is_json;
extern const struct fh_assertion fh_assertion_javascript;
extern const struct fh_assertion fh_assertion_python;
extern const struct fh_assertion fh_assertion_code;
extern const struct fh_assertion fh_assertion_levenshtein;
extern const struct fh_assertion fh_assertion_word_count;
extern const struct fh_assertion fh_assertion_is_refusal;
extern const struct fh_assertion fh_assertion_cost;
extern const struct fh_assertion fh_assertion_latency;
extern const struct fh_assertion fh_assertion_finish_reason;
