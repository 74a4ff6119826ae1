/* SPDX-License-Identifier: MIT */
#pragma once
#include "eval/common/pattern.h"
#include "json/json.h"

/* Whether all of a schema is well formed, also what no value reaches: words that are known, their values, patterns,
 * formats. Parts below "definitions" and "$defs" are read when a $ref names them. FH_E_ARGUMENT says what is wrong. */
int fh_schema_sound(const json_t *schema, struct fh_error *err);
/* Compiles a pattern as the words "pattern" and "patternProperties" have it. pcre2_code_free() it; NULL: it is none. */
FH_OWN pcre2_code *fh_schema_pattern(const char *pattern);
