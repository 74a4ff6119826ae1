/* SPDX-License-Identifier: MIT */
#include "judge/split.h"

#include "judge/declaration.h"
#include "judge/outline.h"
#include "judge/session.h"

static bool names(struct fh_str line, const char *word, struct fh_str name)
{
	size_t n = strlen(word);
	if (line.n <= n + name.n || memcmp(line.p, word, n) != 0 || memcmp(line.p + n, name.p, name.n) != 0)
		return false;
	char after = line.p[n + name.n];
	return after == '(' || after == ' ' || after == ':' || after == '\t' || after == '[';
}

/* Where the definition of the entry point begins in the head, its decorators with it; the head's end without one. */
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

static const char *unfit(const struct fh_judge_problem *p)
{
	bool class;
	definition_at(fh_buf_str(&p->head), fh_str(p->entry_point), &class);
	return class ? "the entry point is a class" : NULL;
}

/* Where programs are whole, a test may name a module that it counts on the program to import. It gets those that the
 * reference imports: what a candidate does is nothing to it. */
static void add_imports(struct fh_buf *out, struct fh_str reference)
{
	fh_auto_outline struct fh_outline o = { 0 };
	fh_outline_make(&o, reference, FH_SYNTAX_PYTHON);
	for (size_t i = 0; i < o.n; i++)
		if (o.items[i].is_import)
			fh_buf_addf(out, "%.*s\n", FH_STR_ARGS(o.items[i].text));
}

/* Helpers and imports that the prompt defines come from there, never from the candidate. */
static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	bool class;
	struct fh_str head = fh_buf_str(&p->problem->head), name = fh_str(p->problem->entry_point);
	fh_auto_buf struct fh_buf before = FH_BUF_INIT(0);
	size_t n = definition_at(head, name, &class);
	fh_buf_add(&before, head.p, n);
	if (n == head.n)
		add_imports(&before, fh_buf_str(&p->problem->reference));
	const struct fh_str parts[] = { name, fh_buf_str(&before), fh_buf_str(&p->problem->tail) };
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), &p->changes);
	return fh_split_script_plan(s, FH_JUDGE_PYTHON, true, &ret->plan, err);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0);
	fh_buf_add(&program, p->head.p, p->head.n);
	fh_buf_add(&program, p->completion.p, p->completion.n);
	const struct fh_str parts[] = { fh_str(p->problem->entry_point), fh_buf_str(&program) };
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), NULL);
	return fh_split_script_plan(s, FH_JUDGE_PYTHON, false, &ret->plan, err);
}

/* As in one process: nothing for Python's site module to find, so that starting takes a third less. */
static const char *const flags[] = { "-I", "-S", NULL };

static const char *const preload[] = { "_struct", "typing", "math",   "re",   "collections", "itertools", "functools",
	                                   "string",  "heapq",  "bisect", "copy", "random",      NULL };

/* What a program can see of it: a module that is there already, and a folder that is no longer on the path. */
#define MAIN(module)                                                                                                   \
	"import sys\nsys.path.insert(0, '" FH_SPLIT_MODULES "')\nfrom " module " import main\ndel sys.path[0]\nmain()\n"

const struct fh_split_language fh_split_python = {
	.language = FH_JUDGE_PYTHON,
	.name = "python",
	.judge = { "guest/split_codec.py", "guest/split_judge.py" },
	.candidate = { "guest/split_codec.py", "guest/split_candidate.py" },
	.judge_main = MAIN("split_judge"),
	.candidate_main = MAIN("split_candidate"),
	.flags = flags,
	.preload = preload,
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};
