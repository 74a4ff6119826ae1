/* SPDX-License-Identifier: MIT */
#include "judge/problems/languages.h"

#include <ctype.h>

#include "code/declaration.h"
#include "code/outline.h"
#include "judge/split/split.h"

static bool is_class(struct fh_str text)
{
	static const char *const words[] = { "class ", "export class ", "export default class " };
	for (size_t i = 0; i < FH_ARRAY_SIZE(words); i++)
		if (fh_str_begins(text, words[i]))
			return true;
	return false;
}

/* Whether the declaration ends with the entry point; *ret_at: where that begins. */
static bool is_declared(const struct fh_judge_problem *p, size_t *ret_at)
{
	return fh_str_eq(fh_last_javascript_name(fh_buf_str(&p->head), ret_at), p->entry_point);
}

/* The names that the test calls, one on each line: the entry point and, if samples are complete programs, other
 * functions of the reference that it calls. *ret_class: the test uses a class of the program. */
static void wanted_names(const struct fh_judge_problem *p, struct fh_buf *ret, bool *ret_class)
{
	fh_auto_outline struct fh_outline o = { 0 }, test = { 0 };
	struct fh_str tail = fh_buf_str(&p->tail), head = fh_buf_str(&p->head);
	size_t at;
	*ret_class = false;
	fh_buf_adds(ret, p->entry_point);
	if (is_declared(p, &at)) {
		while (at < head.n && (head.p[at] == '\n' || head.p[at] == ' '))
			at++;
		*ret_class = is_class(fh_str_from(head, at));
		return;
	}
	fh_outline_make(&o, fh_buf_str(&p->reference), FH_SYNTAX_JAVASCRIPT);
	fh_outline_make(&test, tail, FH_SYNTAX_JAVASCRIPT);
	for (size_t i = 0; i < o.n; i++) {
		const struct fh_outline_item *item = &o.items[i];
		for (size_t k = 0; k < item->count && !item->is_import; k++) {
			struct fh_str name = o.names[item->first + k];
			if (fh_outline_defines(&test, name))
				continue;
			if (is_class(item->text))
				*ret_class = *ret_class || fh_str_eq(name, p->entry_point) || fh_mentions(tail, name, NULL);
			else if (!fh_str_eq(name, p->entry_point) && fh_mentions(tail, name, "("))
				fh_buf_addf(ret, "\n%.*s", FH_STR_ARGS(name));
		}
	}
}

/* Whether the test makes an instance of the entry point, which without a reference alone tells that it is a class. */
static bool is_made_new(const struct fh_judge_problem *p)
{
	fh_auto_free char *new = fh_xasprintf("new %s", p->entry_point);
	struct fh_str tail = fh_buf_str(&p->tail);
	size_t n = strlen(new);
	for (const char *at = tail.p; at && (at = memmem(at, tail.p + tail.n - at, new, n)); at++)
		if (at + n == tail.p + tail.n || (!isalnum((unsigned char)at[n]) && !strchr("_$", at[n])))
			return true;
	return false;
}

static const char *unfit(const struct fh_judge_problem *p)
{
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(0);
	bool class;
	wanted_names(p, &names, &class);
	class = class || (p->reference.n == 0 && is_made_new(p));
	return class ? "the test uses a class of the program's" : NULL;
}

/* Adds the task's helpers, which precede the entry point. If samples are complete programs, the test may rely on the
 * program to require modules, so it gets those that the reference requires. */
static void add_helpers(const struct fh_judge_problem *p, struct fh_buf *out)
{
	fh_auto_outline struct fh_outline o = { 0 };
	struct fh_str head = fh_buf_str(&p->head);
	size_t at;
	bool declared = is_declared(p, &at);
	fh_buf_add_str(out, (struct fh_str){ head.p, declared ? at : head.n });
	if (declared)
		return;
	fh_outline_make(&o, fh_buf_str(&p->reference), FH_SYNTAX_JAVASCRIPT);
	for (size_t i = 0; i < o.n; i++)
		if (o.items[i].is_import && !fh_str_begins(o.items[i].text, "import"))
			fh_buf_add_str(out, o.items[i].text);
}

static int judge_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                      struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf names = FH_BUF_INIT(0), helpers = FH_BUF_INIT(0);
	bool class;
	wanted_names(p->problem, &names, &class);
	add_helpers(p->problem, &helpers);
	const struct fh_str parts[] = { fh_buf_str(&names), fh_buf_str(&helpers), fh_buf_str(&p->problem->tail) };
	fh_buf_add_str(&ret->input, fh_split_seed(p));
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), &p->changes);
	return fh_split_script_plan(s, p, true, &ret->plan, err);
}

static int candidate_side(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                          struct fh_split_side *ret, struct fh_error *err)
{
	fh_auto_buf struct fh_buf program = FH_BUF_INIT(0), names = FH_BUF_INIT(0);
	bool class;
	fh_buf_add_str(&program, p->head);
	fh_buf_add_str(&program, p->completion);
	wanted_names(p->problem, &names, &class);
	const struct fh_str parts[] = { fh_buf_str(&names), fh_buf_str(&program) };
	fh_split_input(&ret->input, parts, FH_ARRAY_SIZE(parts), NULL);
	return fh_split_script_plan(s, p, false, &ret->plan, err);
}

static const char *const shared[] = {
	"console.log =", "console.error =", "console.warn =", "console.info =", "process.stdout.write =",
	"console.log=",  "console.error=",  "console.warn=",  "console.info=",  "process.stdout.write=",
	"process.env",   "process.argv =",  "mock.method(",   "spyOn(",         "Math.random =",
	"Date.now =",    "tmpdir(",         "mkdtemp",        "writeFile",      NULL
};

static const struct fh_split_language split = {
	.judge = { "split_codec.js", "expect.js", "test.js", "split_judge.js" },
	.candidate = { "split_codec.js", "program.js", "split_candidate.js" },
	.unfit = unfit,
	.judge_side = judge_side,
	.candidate_side = candidate_side,
};

/* ------------------------------------------------------------------------------------------------- in one process */

static void input(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret)
{
	fh_buf_addf(in, "%015zu\n%015zu\n", p->head.n + p->completion.n, p->problem->tail.n);
	fh_judge_add_program(in, p);
	fh_buf_add_str(in, fh_buf_str(&p->problem->tail));
	fh_buf_add(in, secret, FH_SECRET_SIZE);
}

static const struct fh_judge_in_process in_process = {
	.driver = "judge.js",
	.libraries = { "program.js", "expect.js", "test.js" },
	.input = input,
	.probe = "const version = () => process.version",
	.probe_test = "console.log(version()); console.assert(1 + 1 === 2)",
};

/* ---------------------------------------------------------------------------------------------------------- calls */

static int call(struct fh_buf *out, const struct fh_judge_call *c, size_t number, struct fh_error *err)
{
	if (!fh_str_eq(c->kwargs, "{}"))
		return fh_judge_wrong(err, "give them in args", "case %zu: javascript has no kwargs", number);
	fh_buf_adds(out, number > 1 ? ", [[" : "[[[");
	fh_buf_add(out, c->args.p, c->args.n);
	fh_buf_adds(out, "], ");
	fh_buf_add(out, c->expected.p, c->expected.n);
	fh_buf_addc(out, ']');
	return 0;
}

/* The cases are JSON text that the test parses, because in a literal `__proto__` has a special meaning. */
static const struct fh_judge_caller caller = {
	.helper = "test_cases.js",
	.function = "checkCases",
	.call = call,
	.as_string = true,
	.open = "JSON.parse(",
	.close = ")",
};

static struct fh_str entry_point(struct fh_str declaration)
{
	size_t at;
	return fh_last_javascript_name(declaration, &at);
}

#define SPOILER(result)                                                                                                \
	"function %s(...given) {\n"                                                                                        \
	"  for (const value of given) {\n"                                                                                 \
	"    if (Array.isArray(value)) value.length = 0;\n"                                                                \
	"    else if (value instanceof Map || value instanceof Set) value.clear();\n"                                      \
	"    else if (typeof value === 'object') for (const key in value) delete value[key];\n"                            \
	"  }\n"                                                                                                            \
	"  return " result ";\n}\n"
static const char *const spoilers[] = { SPOILER("undefined"), SPOILER("given[0]"), SPOILER("[]"), SPOILER("0"),
	                                    SPOILER("''"),        SPOILER("true"),     SPOILER("{}"), NULL };

const struct fh_judge_language_info fh_judge_language_javascript = {
	.spoilers = spoilers,
	.name = "javascript",
	.stub = { "  return undefined;\n}\n", ";\n" },
	.version = "console.log(process.version)",
	.pack_prefix = "JavaScript/",
	.entry_point = entry_point,
	.caller = &caller,
	.in_process = &in_process,
	.shared = shared,
	.split = &split,
};
