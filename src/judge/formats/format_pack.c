/* SPDX-License-Identifier: MIT */
/*
 * BigCode's HumanEvalPack: task_id ("CPP/0"), declaration, test, and optionally import and test_setup. The test calls
 * the function itself. Its name is taken from the declaration, because entry_point is wrong in some rows.
 */
#include "judge/formats/format.h"

#include "code/declaration.h"
#include "code/signature.h"
#include "judge/problems/languages.h"
#include "judge/languages/go_units.h"

/* The language whose task ids have this prefix; FH_JUDGE_LANGUAGE_COUNT_: there is none. */
static enum fh_judge_language language_of(const char *task_id)
{
	enum fh_judge_language l = 0;
	for (; l < FH_JUDGE_LANGUAGE_COUNT_; l++) {
		const char *prefix = fh_judge_languages[l]->pack_prefix;
		if (prefix && fh_starts_with(task_id, prefix))
			break;
	}
	return l;
}

static int no_language(const char *task_id, struct fh_error *err)
{
	fh_auto_buf struct fh_buf known = FH_BUF_INIT(0);
	for (enum fh_judge_language l = 0; l < FH_JUDGE_LANGUAGE_COUNT_; l++)
		if (fh_judge_languages[l]->pack_prefix)
			fh_buf_addf(&known, "%s%s", known.n ? ", " : "", fh_judge_languages[l]->pack_prefix);
	fh_error_set(err, FH_E_CONFIG, "task_id %.80s does not begin with a language that can be judged", task_id);
	fh_error_hint(err, "these can: %s; remove the other problems", fh_buf_cstr(&known));
	return -FH_E_CONFIG;
}

static bool recognises(const json_t *row)
{
	struct fh_str s;
	return fh_judge_field(row, "declaration", &s) && fh_judge_field(row, "test", &s);
}

/* Adds helpers that the prompt defines and the declaration lacks: the reference and the test rely on them. */
static void add_go_helpers(const json_t *row, struct fh_str declaration, struct fh_buf *out)
{
	struct fh_str prompt, name = fh_go_name(declaration);
	if (fh_judge_field(row, "prompt", &prompt) && fh_str_same(fh_go_name(prompt), name))
		fh_go_add_helpers(out, prompt, declaration);
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	p->language = language_of(p->task_id);
	if (p->language == FH_JUDGE_LANGUAGE_COUNT_)
		return no_language(p->task_id, err);
	const struct fh_judge_language_info *l = fh_judge_languages[p->language];
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
	if (l->entry_point) {
		struct fh_str name = l->entry_point(s);
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
