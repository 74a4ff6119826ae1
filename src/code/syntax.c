/* SPDX-License-Identifier: MIT */
#include "code/syntax.h"

/* For a language with braces there may be no outline: it is then outlined as Python. */
static const struct fh_syntax_row rows[] = {
	{ .language = "python", .outline = FH_SYNTAX_PYTHON, .literals = FH_SYNTAX_PYTHON },
	{ .language = "javascript",
	  .outline = FH_SYNTAX_JAVASCRIPT,
	  .literals = FH_SYNTAX_JAVASCRIPT,
	  .has_back_quotes = true },
	{ .language = "bash", .outline = FH_SYNTAX_BASH, .literals = FH_SYNTAX_BASH, .has_back_quotes = true },
	{ .language = "c", .outline = FH_SYNTAX_C, .literals = FH_SYNTAX_C, .has_main = true },
	{ .language = "cpp", .outline = FH_SYNTAX_C, .literals = FH_SYNTAX_C, .has_main = true, .includes = "c" },
	{ .language = "java", .literals = FH_SYNTAX_C, .has_text_blocks = true },
	{ .language = "go", .literals = FH_SYNTAX_C, .has_back_quotes = true },
	{ .language = "rust", .literals = FH_SYNTAX_C },
	{ .language = "php", .literals = FH_SYNTAX_JAVASCRIPT },
	/* read as Python: comments with #, and literals that end in their line. In Lua # is an operator, and the rest of
	 * its line is passed over, as a comment would be */
	{ .language = "ruby", .literals = FH_SYNTAX_PYTHON },
	{ .language = "perl", .literals = FH_SYNTAX_PYTHON },
	{ .language = "r", .literals = FH_SYNTAX_PYTHON },
	{ .language = "lua", .literals = FH_SYNTAX_PYTHON },
};
static const struct fh_syntax_row other = { .language = "", .outline = FH_SYNTAX_PYTHON, .literals = FH_SYNTAX_PYTHON };

const struct fh_syntax_row *fh_syntax_row(const char *language)
{
	for (size_t i = 0; language && i < FH_ARRAY_SIZE(rows); i++)
		if (fh_streq(language, rows[i].language))
			return &rows[i];
	return &other;
}
