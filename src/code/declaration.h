/* SPDX-License-Identifier: MIT */
/*
 * Reads declarations: the name that one defines, and where its body begins. Data sets contain wrong entry points and
 * declarations that include a part of the body, so the text itself is what counts.
 */
#pragma once
#include "base/base.h"

/* Whether Python source defines `name` at the top level (def, async def or class, or an assignment). */
bool fh_declares_python(struct fh_str source, struct fh_str name);

/* Whether `name` occurs in source as a word; with `followed_by`, only directly before one of these characters. */
bool fh_mentions(struct fh_str source, struct fh_str name, FH_NULLABLE const char *followed_by);

/* The name that the last top-level statement of JavaScript source defines, and where that statement begins; n = 0 when
 * it defines none. */
struct fh_str fh_last_javascript_name(struct fh_str source, size_t *ret_at);

/* The name of the last top-level def (or async def) in Python source; n = 0 when there is none. */
struct fh_str fh_last_python_def(struct fh_str source);

/* A C++ declaration has to end inside the body that the completion continues, and in no further brace. When more braces
 * are open at its end, this is the part up to and including the last `{` that opens at depth 0; otherwise all of it.
 * Braces in comments, strings, raw strings and character literals do not count. */
struct fh_str fh_cpp_declaration(struct fh_str declaration);

/* The end of the comment or literal that begins at s[i], or i when none begins there. */
size_t fh_cpp_skip(struct fh_str s, size_t i);
