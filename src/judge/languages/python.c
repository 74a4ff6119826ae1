/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include <ctype.h>

#include "code/declaration.h"
#include "code/outline.h"
#include "code/program_text.h"
#include "judge/split/split.h"

static bool names(struct fh_str line, const char *word, struct fh_str name)
{
	size_t n = strlen(word);
	if (line.n <= n + name.n || memcmp(line.p, word, n) != 0 || memcmp(line.p + n, name.p, name.n) != 0)
		return false;
	char after = line.p[n + name.n];
	return after == '(' || after == ' ' || after == ':' || after == '\t' || after == '[';
}

/* The position in the head where the definition of the entry point begins, with its decorators; the end of the head if
 * there is none. */
static size_t definition_at(struct fh_str head, struct fh_str name, bool *ret_class)
{
	size_t at = 0, found = head.n, decorated = SIZE_MAX;
	*ret_class = false;
	while (at < head.n) {
		const char *end = memchr(head.p + at, '\n', head.n - at);
		struct fh_str line = { head.p + at, end ? (size_t)(end - head.p) - at : head.n - at };
		bool class = names(line, "class ", name);
		if (class || names(line, "def ", name) || names(line, "async def ", name)) {
			found = decorated < at ? decorated : at;
			*ret_class = class;
		}
		if (line.n == 0 || line.p[0] != '@')
			decorated = SIZE_MAX;
		else if (decorated == SIZE_MAX)
			decorated = at;
		at += line.n + 1;
	}
	return found;
}

/* The names that the test calls, one on each line: the entry point and, if samples are complete programs, other
 * functions of the reference that it calls. *ret_class: one of the reference's classes is among them. */
static void wanted_names(const struct fh_judge_problem *p, struct fh_buf *ret, bool *ret_class)
{
	fh_auto_outline struct fh_outline o = { 0 };
	struct fh_str entry = fh_str(p->entry_point), tail = fh_buf_str(&p->tail), reference = fh_buf_str(&p->reference);
	fh_buf_add(ret, entry.p, entry.n);
	if (definition_at(fh_buf_str(&p->head), entry, ret_class) < p->head.n)
		return;
	fh_outline_make(&o, reference, FH_SYNTAX_PYTHON);
	for (size_t i = 0; i < o.name_count; i++) {
		bool class;
		if (!fh_mentions(tail, o.names[i], "(.")) /* quickly excludes most names */
			continue;
		size_t at = definition_at(reference, o.names[i], &class);
		if (at == reference.n || (!class && !fh_mentions(tail, o.names[i], "(")) ||
		    fh_declares_python(tail, o.names[i]))
			continue;
		*ret_class = *ret_class || class;
		if (!fh_str_eq(o.names[i], p->entry_point))
			fh_buf_addf(ret, "\n%.*s", FH_STR_ARGS(o.names[i]));
	}
}

/* Whether a name is one that Python's style guide gives to classes: `Stack`, `LRUCache`, and not `f`, `A` or `MAX`. */
static bool is_named_as_class(const char *name)
{
	return isupper((unsigned char)name[0]) && strpbrk(name, "abcdefghijklmnopqrstuvwxyz");
}

/* Without a reference nothing but the name tells whether the entry point is a class. */
static const char *unfit(const struct fh_judge_problem *p)
{
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(0);
	bool class;
	wanted_names(p, &names, &class);
	if (p->reference.n == 0 && is_named_as_class(p->entry_point) &&
	    definition_at(fh_buf_str(&p->head), fh_str(p->entry_point), &class) == p->head.n)
		class = true;
	return class ? "the test uses a class of the program's" : NULL;
}

/* Helpers and imports of the prompt are taken from the prompt, never from the candidate. If samples are complete
 * programs, a test may rely on the program to import modules, so it gets those that the reference imports. */
static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	bool class;
	struct fh_str head = fh_buf_str(&p->problem->head);
	fh_auto_buf struct fh_buf before = FH_BUF_INIT(0), names = FH_BUF_INIT(0);
	size_t n = definition_at(head, fh_str(p->problem->entry_point), &class);
	fh_buf_add(&before, head.p, n);
	if (n == head.n)
		fh_outline_add_imports(&before, fh_buf_str(&p->problem->reference), FH_SYNTAX_PYTHON);
	wanted_names(p->problem, &names, &class);
	const struct fh_str parts[] = { fh_buf_str(&names), fh_buf_str(&before), fh_buf_str(&p->problem->tail) };
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), &p->changes);
	return fh_split_script_plan(s, p, true, &ret->plan, err);
}

/* Imports that BigCode's harness puts before programs for HumanEvalPack; those of which the program uses the name. */
static const struct {
	const char *name, *import;
} usual_imports[] = {
	{ "math", "import math\n" },
	{ "re", "import re\n" },
	{ "sys", "import sys\n" },
	{ "copy", "import copy\n" },
	{ "datetime", "import datetime\n" },
	{ "itertools", "import itertools\n" },
	{ "collections", "import collections\n" },
	{ "heapq", "import heapq\n" },
	{ "functools", "import functools\n" },
	{ "hashlib", "import hashlib\n" },
	{ "string", "import string\n" },
	{ "", "from typing import *\nfrom collections import *\n" },
};

/* Appends imports on which the program may count: a whole program on those of the prompt, as a completion does. Not so
 * where EvalPlus's own program, which computes what is expected, would not have them either. */
static void add_imports(struct fh_buf *out, const struct fh_judge_problem *p, struct fh_str head, struct fh_str program)
{
	for (size_t i = 0; fh_streq(p->format, "HumanEvalPack") && i < FH_ARRAY_SIZE(usual_imports); i++)
		if (!*usual_imports[i].name || fh_mentions(program, fh_str(usual_imports[i].name), "."))
			fh_buf_adds(out, usual_imports[i].import);
	if (head.n == 0 && !p->head_is_shared && !p->truth)
		fh_outline_add_imports(out, fh_buf_str(&p->head), FH_SYNTAX_PYTHON);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	bool class;
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0), names = FH_BUF_INIT(0), imports = FH_BUF_INIT(0);
	fh_buf_add(&program, p->head.p, p->head.n);
	fh_buf_add(&program, p->completion.p, p->completion.n);
	wanted_names(p->problem, &names, &class);
	add_imports(&imports, p->problem, p->head, p->completion);
	const struct fh_str parts[] = { fh_buf_str(&names), fh_buf_str(&imports), fh_buf_str(&program) };
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), NULL);
	return fh_split_script_plan(s, p, false, &ret->plan, err);
}

/* -S: without packages, Python's site module finds nothing, and starting without it takes a third less time. Not -I,
 * which would ignore the hash secret in the environment. */
static const char *const flags[] = { "-s", "-S", NULL };

static const char *const preload[] = { "_struct", "typing", "math",   "re",   "collections", "itertools", "functools",
	                                   "string",  "heapq",  "bisect", "copy", "random",      NULL };

/* A program can notice this only by a module that is loaded already; the folder is removed from the path again. */
#define MAIN(module)                                                                                                   \
	"import sys\nsys.path.insert(0, '" FH_SPLIT_MODULES "')\nfrom " module " import main\ndel sys.path[0]\nmain()\n"

static const char *const shared[] = { "redirect_stdout(",
	                                  "redirect_stderr(",
	                                  "sys.stdout =",
	                                  "sys.stderr =",
	                                  "sys.stdin =",
	                                  "sys.argv =",
	                                  "capsys",
	                                  "capfd",
	                                  "caplog",
	                                  "monkeypatch",
	                                  "patch(",
	                                  "patch.object(",
	                                  "patch.dict(",
	                                  "assertLogs(",
	                                  "assertNoLogs(",
	                                  "assertWarns(",
	                                  "assertWarnsRegex(",
	                                  ".warns(",
	                                  "catch_warnings(",
	                                  "os.environ",
	                                  "tempfile",
	                                  "tmp_path",
	                                  "tmpdir",
	                                  "open(",
	                                  "write_text(",
	                                  "SystemExit",
	                                  "await ",
	                                  "asyncio.run(",
	                                  "multiprocessing",
	                                  "ProcessPoolExecutor",
	                                  ".send(",
	                                  "cache_info(",
	                                  "cache_clear(",
	                                  ".__doc__",
	                                  "inspect.",
	                                  NULL };

static const struct fh_split_language split = {
	.judge = { "split_codec.py", "split_library.py", "split_numpy.py", "split_judge.py" },
	.candidate = { "split_codec.py", "split_library.py", "split_candidate.py" },
	.judge_main = MAIN("split_judge"),
	.candidate_main = MAIN("split_candidate"),
	.flags = flags,
	.preload = preload,
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
	.probe_name = "version",
	.probe = "def version():\n    import sys\n    print(sys.implementation.name, sys.version)\n    return 1 + 1\n",
	.probe_test = "assert version() == 2",
};

/* ------------------------------------------------------------------------------------------------- in one process */

/* What stands around a test that has cases of unittest, as split_judge.py does for one in a process of its own:
 * unittest finds them in the module __main__; it does not leave the process; and those that fail, or that end as
 * neither passed nor failed, are remembered, for a test may run its cases and not look at how they went. So are those
 * that are skipped, but not by the test: the program can raise a skip, too. A skip is the test's own where a mark says
 * so, or where the last frame of this text is behind the program (from line %zu) and names a skip. What ends a case
 * with a subtest that failed would end any other as passed. */
static const char before_cases[] =
    "def fh_cases():\n"
    "    import sys, unittest\n"
    "    space, usual, failed, begun = globals(), unittest.main, [], {}\n"
    "    module, first = type(sys)('__main__'), sys.modules['__main__']\n"
    "    skip_code = unittest.TestCase.skipTest.__code__\n"
    "    unittest.case._ShouldStop = ()\n"
    "    def main(*args, first=first, **named):\n"
    "        module.__dict__.update(space)\n"
    "        return usual(*args, **{**named, 'exit': False})\n"
    "    def watch(name, fails, ends=True):\n"
    "        add = getattr(unittest.TestResult, name)\n"
    "        def watched(self, case, *what):\n"
    "            if fails(case, what):\n"
    "                failed.append(case)\n"
    "            if ends:\n"
    "                begun.pop(id(getattr(case, 'test_case', case)), None)\n"
    "            else:\n"
    "                begun[id(case)] = case\n"
    "            return add(self, case, *what)\n"
    "        setattr(unittest.TestResult, name, watched)\n"
    "    for name in ('addFailure', 'addError', 'addUnexpectedSuccess'):\n"
    "        watch(name, lambda case, what: True)\n"
    "    for name in ('addSuccess', 'addExpectedFailure'):\n"
    "        watch(name, lambda case, what: False)\n"
    "    watch('startTest', lambda case, what: False, False)\n"
    "    add_sub_test = unittest.TestResult.addSubTest\n"
    "    def watched_sub_test(self, case, *what):\n"
    "        if what[-1] is not None:\n"
    "            failed.append(case)\n"
    "            begun.pop(id(case), None)\n"
    "        return add_sub_test(self, case, *what)\n"
    "    unittest.TestResult.addSubTest = watched_sub_test\n"
    "    def is_own_skip(case, what):\n"
    "        error = sys.exc_info()[1]\n"
    "        if not isinstance(error, unittest.SkipTest):\n"
    "            method = getattr(case, getattr(case, '_testMethodName', ''), None)\n"
    "            return any(hasattr(one, '__unittest_skip__') for one in (case, method))\n"
    "        at, last, deeper = error.__traceback__, None, []\n"
    "        while at:\n"
    "            if at.tb_frame.f_code.co_filename == '<string>':\n"
    "                last, deeper = at, []\n"
    "            else:\n"
    "                deeper.append(at.tb_frame.f_code)\n"
    "            at = at.tb_next\n"
    "        return (last is not None and last.tb_lineno >= %zu and all(code is skip_code for code in deeper)\n"
    "                and any('skip' in name.lower() for name in last.tb_frame.f_code.co_names))\n"
    "    watch('addSkip', lambda case, what: not is_own_skip(case, what))\n"
    "    space['__name__'], unittest.main = '__main__', main\n"
    "    sys.modules['__main__'] = module\n"
    "    return lambda: failed + list(begun.values())\n"
    "fh_cases = fh_cases()\n";
static const char behind_cases[] = "\nif fh_cases():\n    raise AssertionError('unittest: %d failed, the first %s' % "
                                   "(len(fh_cases()), fh_cases()[0]))\n";

static size_t lines_of(struct fh_str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

static void whole(struct fh_buf *out, const struct fh_judge_parts *p)
{
	struct fh_str test = fh_buf_str(&p->problem->tail);
	bool has_cases = fh_python_imports(test, "unittest");
	if (!memmem(p->completion.p, p->completion.n, "__future__", 10)) /* its import comes first */
		add_imports(out, p->problem, p->head, p->completion);
	fh_judge_add_program(out, p);
	fh_buf_addc(out, '\n');
	if (has_cases)
		fh_buf_addf(out, before_cases, lines_of(fh_buf_str(out)) + 1);
	if (memmem(test.p, test.n, "fh_run_cases(", 13))
		fh_buf_addf(out, "fh_test_line = %zu\n", lines_of(fh_buf_str(out)) + 1);
	/* What stands behind a guard of the main program is run, as in split_judge.py, but for a test that may exit there:
	 * here that is an end too early, which a program could bring about as well. */
	if (!fh_python_imports(test, "pytest") && !memmem(test.p, test.n, "exit(", 5))
		fh_buf_adds(out, "__name__ = '__main__'\n");
	fh_buf_add_str(out, test);
	fh_buf_adds(out, has_cases ? behind_cases : "");
}

static void input(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	whole(&program, p);
	fh_buf_addf(in, "%015zu\n", program.n);
	fh_buf_add_str(in, fh_buf_str(&program));
	fh_buf_add(in, secret, FH_SECRET_SIZE);
}

static const struct fh_judge_in_process in_process = {
	.driver = "judge.py",
	.whole = whole,
	.input = input,
	.flags = flags,
	.probe = "import sys",
	.probe_test = "print(sys.implementation.name, sys.version)\nassert 1 + 1 == 2",
};

/* ---------------------------------------------------------------------------------------------------------- calls */

static int call(struct fh_buf *out, const struct fh_judge_call *c, size_t number, struct fh_error *err)
{
	fh_buf_adds(out, "\t([");
	fh_python_of_json(out, c->args);
	fh_buf_adds(out, "], ");
	fh_python_of_json(out, c->kwargs);
	fh_buf_adds(out, ", ");
	fh_python_of_json(out, c->expected);
	fh_buf_adds(out, "),\n");
	return 0;
}

static const struct fh_judge_caller caller = {
	.helper = "test_cases.py",
	.function = "check_cases",
	.call = call,
	.open = "[\n",
	.close = "]",
};

#define SPOILER(result)                                                                                                \
	"def %s(*given, **named):\n"                                                                                       \
	"    for value in [*given, *named.values()]:\n"                                                                    \
	"        if hasattr(value, 'clear'):\n"                                                                            \
	"            value.clear()\n"                                                                                      \
	"    return " result "\n"
static const char *const spoilers[] = { SPOILER("None"), SPOILER("given[0]"), SPOILER("[]"), SPOILER("0"),
	                                    SPOILER("''"),   SPOILER("True"),     SPOILER("{}"), NULL };

const struct fh_judge_language_info fh_judge_language_python = {
	.spoilers = spoilers,
	.name = "python",
	.stub = { "    return None\n", "pass\n" },
	.version = "import sys\nprint(sys.implementation.name, sys.version)",
	.pack_prefix = "Python/",
	.entry_point = fh_last_python_def,
	.caller = &caller,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
