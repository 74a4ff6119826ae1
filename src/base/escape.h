/* SPDX-License-Identifier: MIT */
/*
 * One escaper for each sink. Text that a model, a tested program, a data set or the network may have influenced must go
 * through the escaper of the place where it is shown. Each appends to `out` and never reads beyond `s`. (JSON has its
 * own writer, json/json.h.)
 */
#pragma once
#include "base/buf.h"

/* A terminal or a log line: control characters (C0 but for \n and \t when `multiline`, DEL, C1), bidirectional
 * overrides and bytes that are not UTF-8 become visible escapes (\x1b, \u202e); nothing can move the cursor,
 * change colours or start a new line. */
void fh_escape_terminal(struct fh_buf *out, struct fh_str s, bool multiline);

/* The same as one line into to[size], cut between two characters and ended by a NUL. */
void fh_escape_terminal_line(char *to, size_t size, struct fh_str s);

/* Text or a double-quoted attribute value of HTML or XML; characters that XML forbids become U+FFFD. */
void fh_escape_html(struct fh_buf *out, struct fh_str s);

/* Text in Markdown, on one line: every ASCII punctuation character gets a backslash (CommonMark 2.4), control
 * characters become visible as on a terminal. */
void fh_escape_markdown(struct fh_buf *out, struct fh_str s);

/* One CSV field (RFC 4180), quoted when needed; a field that a spreadsheet would take for a formula (it starts with
 * = + - @ tab or CR) gets a ' in front. */
void fh_escape_csv(struct fh_buf *out, struct fh_str s);

/* A word of a POSIX shell command line, for commands that are shown to users. fumehood itself never runs a shell with
 * such text. */
void fh_escape_shell(struct fh_buf *out, struct fh_str s);

/* A word for fish, in single quotes, within which only \ and ' are special. */
void fh_escape_fish(struct fh_buf *out, struct fh_str s);

/* Makes YAML of the JSON that was written to `out` from the byte `from` on: characters that YAML refuses, or takes for
 * the end of a line, become JSON's escapes. */
void fh_escape_json_for_yaml(struct fh_buf *out, size_t from);
