/* SPDX-License-Identifier: MIT */
/*
 * Tests of Python that only define their cases, as files for pytest and unittest do. Run as a text they would call
 * nothing, and in the program's own process nothing would fail.
 */
#include "judge/formats/format.h"

#include "code/outline.h"

static bool begins(struct fh_str s, const char *word)
{
	return fh_str_begins(s, word);
}

/* The statement without the comments and the decorators before it. */
static struct fh_str statement_of(struct fh_str text)
{
	struct fh_str rest = text, line, at = text;
	while (fh_next_line(&rest, &line) && (!line.n || strchr("#@ \t\f)", line.p[0])))
		at = rest;
	return at;
}

static bool is_definition(struct fh_str statement)
{
	return begins(statement, "def ") || begins(statement, "async def ") || begins(statement, "class ");
}

/* Whether the statement does nothing but define something, or what a file does before and behind its cases. */
static bool only_defines(const struct fh_outline_item *item, struct fh_str statement)
{
	static const char *const words[] = { "\"\"\"", "'''", "sys.path.", "if __name__" };
	bool known = item->is_import || item->count > 0 || !statement.n || is_definition(statement);
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		known = known || begins(statement, words[i]);
	return known;
}

/* The name of the case that the statement defines: a function test…, a class Test… or one of unittest's; else none. */
static struct fh_str case_of(struct fh_str statement)
{
	struct fh_str head, rest = statement, none = { "", 0 };
	if (!fh_next_line(&rest, &head))
		return none;
	bool class = begins(head, "class ");
	size_t skip = class ? 6 : begins(head, "def ") ? 4 : begins(head, "async def ") ? 10 : 0;
	struct fh_str name = fh_identifier((struct fh_str){ head.p + skip, head.n - skip });
	bool is_case = class ? begins(name, "Test") || memmem(head.p, head.n, "TestCase", 8) : begins(name, "test");
	return skip && is_case ? name : none;
}

/* Whether unittest.main() runs the cases where it stands behind `if __name__ == "__main__"`: so it does in a test that
 * imports unittest (guest/python/split_judge.py). */
static bool runs_itself(struct fh_str test, struct fh_str statement)
{
	return begins(statement, "if __name__") && memmem(statement.p, statement.n, "main(", 5) &&
	       fh_python_imports(test, "unittest");
}

/* Whether the case cannot be called by itself: a function with parameters, which only pytest knows how to give. */
static bool needs_arguments(struct fh_str test, struct fh_str statement)
{
	struct fh_str head, rest = statement;
	return fh_next_line(&rest, &head) && !begins(head, "class ") && !memmem(head.p, head.n, "()", 2) &&
	       !memmem(test.p, test.n, "pytest", 6);
}

size_t fh_judge_python_cases(struct fh_str test, struct fh_buf *ret_call)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(0);
	bool runs = false;
	fh_outline_make(&o, test, FH_SYNTAX_PYTHON);
	for (size_t i = 0; i < o.n && !runs; i++) {
		struct fh_str statement = statement_of(o.items[i].text), name = case_of(statement);
		runs = !only_defines(&o.items[i], statement) || runs_itself(test, statement) ||
		       (name.n && needs_arguments(test, statement));
		if (name.n)
			fh_buf_addf(&names, ", \"%.*s\"", FH_STR_ARGS(name));
	}
	if (!runs && names.n)
		fh_buf_addf(ret_call, "fh_run_cases(globals()%s)\n", fh_buf_cstr(&names));
	struct fh_str last = o.n ? o.items[o.n - 1].text : test;
	return o.n && begins(statement_of(last), "if __name__") ? (size_t)(last.p - test.p) : test.n;
}
