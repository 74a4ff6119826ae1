/* SPDX-License-Identifier: MIT */
/*
 * BigCode's HumanEvalPack: task_id ("CPP/0"), declaration, test, and where present import and test_setup. The test
 * calls the function itself; what its name is, the declaration says, for entry_point is wrong in some rows.
 */
#include "judge/format.h"

#include "code/declaration.h"
#include "code/signature.h"
#include "judge/go_units.h"

static struct fh_str last_javascript_name(struct fh_str declaration)
{
	size_t at;
	return fh_last_javascript_name(declaration, &at);
}

static const struct {
	const char *prefix;
	enum fh_judge_language language;
	struct fh_str (*entry_point)(struct fh_str declaration);
} languages[] = {
	{ "Python/", FH_JUDGE_PYTHON, fh_last_python_def },
	{ "JavaScript/", FH_JUDGE_JAVASCRIPT, last_javascript_name },
	{ "CPP/", FH_JUDGE_CPP, fh_cpp_name },
	{ "Java/", FH_JUDGE_JAVA, fh_java_name },
	{ "Rust/", FH_JUDGE_RUST, fh_rust_name },
	{ "Go/", FH_JUDGE_GO, fh_go_name },
};

static bool recognises(const json_t *row)
{
	struct fh_str s;
	return fh_judge_field(row, "declaration", &s) && fh_judge_field(row, "test", &s);
}

/* Helpers that the prompt defines, and with it the reference and the test count on, where the declaration has none. */
static void add_go_helpers(const json_t *row, struct fh_str declaration, struct fh_buf *out)
{
	struct fh_str prompt, name = fh_go_name(declaration);
	if (fh_judge_field(row, "prompt", &prompt) && fh_str_same(fh_go_name(prompt), name))
		fh_go_add_helpers(out, prompt, declaration);
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	size_t i = 0;
	while (i < FH_ARRAY_SIZE(languages) && !fh_starts_with(p->task_id, languages[i].prefix))
		i++;
	if (i == FH_ARRAY_SIZE(languages)) {
		fh_error_set(err, FH_E_CONFIG, "task_id %.80s does not begin with a language that can be judged", p->task_id);
		fh_error_hint(err, "Python/, JavaScript/, CPP/, Java/, Rust/ and Go/ can; remove the other problems");
		return -FH_E_CONFIG;
	}
	p->language = languages[i].language;
	static const char *const before[] = { "import", "test_setup" };
	struct fh_str s;
	for (size_t k = 0; k < FH_ARRAY_SIZE(before); k++) {
		if (!fh_judge_field(row, before[k], &s) || s.n == 0)
			continue;
		fh_buf_add(&p->head, s.p, s.n);
		fh_buf_addc(&p->head, '\n');
	}
	if (fh_judge_field(row, "canonical_solution", &s))
		fh_buf_add(&p->reference, s.p, s.n);
	fh_judge_field(row, "declaration", &s);
	if (p->language == FH_JUDGE_CPP)
		s = fh_cpp_declaration(s);
	if (p->language == FH_JUDGE_GO)
		add_go_helpers(row, s, &p->head);
	fh_judge_add_lines(&p->head, s);
	if (languages[i].entry_point) {
		struct fh_str name = languages[i].entry_point(s);
		p->entry_point = fh_xstrndup(name.p, name.n);
	}
	fh_judge_field(row, "test", &s);
	fh_buf_add(&p->tail, s.p, s.n);
	return 0;
}

const struct fh_judge_format fh_judge_pack = {
	.name = "HumanEvalPack",
	.fields = "task_id, declaration, test",
	.recognises = recognises,
	.read = read_row,
};
