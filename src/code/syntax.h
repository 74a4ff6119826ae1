/* SPDX-License-Identifier: MIT */
/*
 * How a program's text is read by look: one row for each language, in syntax.c. Nothing else in src/code knows a
 * language by its name, but for files that are about one language (go_source.h).
 */
#pragma once
#include "base/base.h"

enum fh_syntax { FH_SYNTAX_PYTHON, FH_SYNTAX_JAVASCRIPT, FH_SYNTAX_C, FH_SYNTAX_BASH, FH_SYNTAX_COUNT_ };

struct fh_syntax_row {
	const char *language;
	enum fh_syntax outline;           /* how statements and definitions are found (outline.h) */
	enum fh_syntax literals;          /* how comments and literals are skipped (literal.h) */
	bool has_back_quotes;             /* a back quote begins a literal or a command */
	bool has_text_blocks;             /* """ begins a literal of several lines */
	bool has_main;                    /* a whole program defines main */
	FH_NULLABLE const char *includes; /* a language whose programs are programs in this one too */
};

/* The row of a language. For a name that has none, and for NULL, the row of a language that is read as Python. */
const struct fh_syntax_row *fh_syntax_row(FH_NULLABLE const char *language);

static inline enum fh_syntax fh_outline_syntax(FH_NULLABLE const char *language)
{
	return fh_syntax_row(language)->outline;
}

static inline enum fh_syntax fh_literal_syntax(FH_NULLABLE const char *language)
{
	return fh_syntax_row(language)->literals;
}
