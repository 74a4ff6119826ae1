/* SPDX-License-Identifier: MIT */
#include "json/yaml_internal.h"

/* Rewrites errors of libyaml: its text, what is at the position, and our message. The first match counts. */
struct rewrite {
	const char *problem; /* text that libyaml's message contains */
	const char *context; /* text that libyaml's context contains, or NULL */
	const char *at;      /* the character at the problem is one of these, or NULL */
	bool at_context;     /* report the position of the context, not of the problem */
	const char *message, *hint;
};

static const struct rewrite rewrites[] = {
	{ "cannot start any token", NULL, "\t", false, "a tab is used for indentation", "indent with spaces" },
	{ "tab character", NULL, NULL, false, "a tab is used for indentation", "indent with spaces" },
	{ "cannot start any token", NULL, "@`", false, "a value cannot start with @ or `", "put the value in quotes" },
	{ "cannot start any token", NULL, "%", false, "a value cannot start with %", "put the value in quotes" },
	{ "mapping values are not allowed", NULL, NULL, false, "unexpected ':'",
	  "put a text that contains ': ' in quotes; if it is a key, look at its indentation" },
	{ "unexpected end of stream", "quoted scalar", NULL, true, "this quote is not closed",
	  "close it; inside '…' a quote is written twice, inside \"…\" as \\\"" },
	{ "unexpected document indicator", "quoted scalar", NULL, true, "this quote is not closed",
	  "close it; inside '…' a quote is written twice, inside \"…\" as \\\"" },
	{ "unknown escape character", NULL, NULL, false, "unknown escape in a \"…\" string",
	  "write a backslash as \\\\, or use '…', where a backslash is itself" },
	{ "did not find expected alphabetic or numeric character", "alias", NULL, true, "a value cannot start with *",
	  "put the value in quotes" },
	{ "did not find expected alphabetic or numeric character", "anchor", NULL, true, "a value cannot start with &",
	  "put the value in quotes" },
	{ "could not find expected ':'", NULL, NULL, true, "a key without ':' after it",
	  "write `key: value`; a text of several lines takes `key: |` and deeper indentation" },
	{ "did not find expected ',' or '}'", NULL, NULL, true, "this { is not closed, or a comma is missing in it",
	  "a text that starts with { (a template such as {{name}}) must be in quotes" },
	{ "did not find expected ',' or ']'", NULL, NULL, true, "this [ is not closed, or a comma is missing in it",
	  "a text that starts with [ must be in quotes" },
	{ "did not find expected node content", NULL, NULL, false,
	  "a value is missing or starts with a character that it cannot", "put the value in quotes" },
	{ "did not find expected key", NULL, NULL, false, "expected a key of the mapping above",
	  "look at the indentation; a text that starts with a quote must end with it" },
	{ "did not find expected '-' indicator", NULL, NULL, false, "expected '- ' and an item of the list above",
	  "look at the indentation" },
	{ "block sequence entries are not allowed", NULL, NULL, false, "a list item cannot start here",
	  "put the first '- ' on a line of its own, below its key" },
	{ "did not find expected <document start>", NULL, NULL, false, "text after the end of the document",
	  "look at the indentation: all keys of the outermost level start in the first column" },
	{ "undefined tag handle", NULL, NULL, false, "unknown tag", "a value that starts with ! must be in quotes" },
	{ "control characters are not allowed", NULL, NULL, false, "a control character",
	  "remove it, or write it as an escape in \"…\"" },
};

static size_t count_lines(struct fh_str text, size_t offset, uint32_t *ret_column)
{
	size_t line = 1, start = 0;
	for (size_t i = 0; i < FH_MIN(offset, text.n); i++)
		if (text.p[i] == '\n')
			line++, start = i + 1;
	*ret_column = (uint32_t)(FH_MIN(offset, text.n) - start) + 1;
	return line;
}

/* The byte at a mark; marks count characters, not bytes. */
static char byte_at(struct fh_str text, size_t characters)
{
	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] & 0xC0) != 0x80 && characters-- == 0)
			return text.p[i];
	return '\0';
}

static bool fits(const struct rewrite *r, const yaml_parser_t *parser, char at)
{
	return strstr(parser->problem, r->problem) &&
	       (!r->context || (parser->context && strstr(parser->context, r->context))) &&
	       (!r->at || (at && strchr(r->at, at)));
}

static int reader_error(const yaml_parser_t *parser, struct fh_str text, const char *name, struct fh_error *err)
{
	uint32_t column;
	uint32_t line = (uint32_t)count_lines(text, parser->problem_offset, &column);
	bool control = strstr(parser->problem, "control characters") != NULL;
	fh_error_at(err, name, line, column,
	            control ? "a control character (0x%02x)" : "the text is not valid UTF-8 (0x%02x)",
	            (unsigned)parser->problem_value);
	fh_error_hint(err, control ? "remove it, or write it as an escape in \"…\"" : "save the file as UTF-8");
	return -FH_E_CONFIG;
}

int fh_yaml_syntax_error(const yaml_parser_t *parser, struct fh_str text, const char *name, struct fh_error *err)
{
	if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
		return fh_error_at(err, name, 0, 0, "the file is too large to be read");
	if (parser->error == YAML_READER_ERROR)
		return reader_error(parser, text, name, err);
	yaml_mark_t mark = parser->problem_mark;
	char at = byte_at(text, mark.index);
	for (size_t i = 0; i < FH_ARRAY_SIZE(rewrites); i++) {
		if (!fits(&rewrites[i], parser, at))
			continue;
		if (rewrites[i].at_context && parser->context)
			mark = parser->context_mark;
		fh_error_at(err, name, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1, "%s", rewrites[i].message);
		fh_error_hint(err, "%s", rewrites[i].hint);
		return -FH_E_CONFIG;
	}
	return fh_error_at(err, name, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1, "%s%s%s", parser->problem,
	                   parser->context ? " " : "", parser->context ? parser->context : "");
}
