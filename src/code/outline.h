/* SPDX-License-Identifier: MIT */
/*
 * The top level of a program's text: its statements and the names that they define. Text is scanned, not parsed, in
 * linear time, and may be broken; the result is good enough to find a function and what it needs, not to compile.
 */
#pragma once
#include "base/buf.h"
#include "code/syntax.h"

#define FH_OUTLINE_ITEMS_MAX 4096

struct fh_outline_item {
	struct fh_str text;  /* text of the statement, as whole lines */
	bool is_import;      /* the statement brings names from other modules */
	bool is_wanted;      /* needed by all that follows, without being named (#include, import *) */
	size_t first, count; /* names that the statement defines: a range of the outline's `names` */
};

struct fh_outline {
	enum fh_syntax syntax;
	struct fh_outline_item *items;
	size_t n, capacity;
	struct fh_str *names; /* borrowed from the text */
	size_t name_count, name_capacity;
};

/* Outlines text (borrowed: it must outlive the outline). Behind FH_OUTLINE_ITEMS_MAX statements, the rest is one. */
void fh_outline_make(struct fh_outline *o, struct fh_str text, enum fh_syntax syntax);
void fh_outline_release(struct fh_outline *o);
#define fh_auto_outline FH_CLEANUP(fh_outline_release)
/* Appends the imports of text, each as whole lines. */
void fh_outline_add_imports(struct fh_buf *out, struct fh_str text, enum fh_syntax syntax);
bool fh_outline_defines(const struct fh_outline *o, struct fh_str name);

/* Whether a single line looks like code of this syntax rather than a sentence. Indented lines count as code. */
bool fh_outline_is_code_line(struct fh_str line, enum fh_syntax syntax);
/* Whether a line begins a definition or an import at the top level: there code begins within prose. */
bool fh_outline_is_start_line(struct fh_str line, enum fh_syntax syntax);

/* Removes the next line from *rest; *ret_line is the line without its end (\n or \r\n). False at the end of the
 * text. */
bool fh_next_line(struct fh_str *rest, struct fh_str *ret_line);
/* The identifier (letters, digits, _ and $) at the beginning of s; empty when there is none. */
struct fh_str fh_identifier(struct fh_str s);
/* Whether a line of Python imports the module, or something whose name has its name. */
bool fh_python_imports(struct fh_str text, const char *module);
