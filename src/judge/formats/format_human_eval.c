/* SPDX-License-Identifier: MIT */
/*
 * OpenAI's human-eval: task_id, prompt, entry_point, test, canonical_solution; Python. The official harness executes
 * prompt + completion + "\n" + test + "\n" + "check(ENTRY_POINT)", and so do we.
 */
#include "judge/formats/format.h"

#include "code/declaration.h"

static bool recognises(const json_t *row)
{
	struct fh_str s;
	return fh_judge_field(row, "prompt", &s) && fh_judge_field(row, "test", &s) &&
	       fh_judge_field(row, "entry_point", &s) && !json_object_get(row, "declaration");
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_str prompt, test, entry, reference, language;
	fh_judge_field(row, "prompt", &prompt);
	fh_judge_field(row, "test", &test);
	fh_judge_field(row, "entry_point", &entry);
	if (fh_judge_field(row, "language", &language) && strcasecmp(language.p, "python") != 0) {
		fh_error_set(err, FH_E_CONFIG, "rows with these fields are judged in Python, but this one is in %.40s",
		             language.p);
		fh_error_hint(err, "HumanEvalPack's rows (declaration, test) and generic ones (code, tests or cases) may be in "
		                   "other languages");
		return -FH_E_CONFIG;
	}
	if (!fh_judge_is_name(entry)) {
		fh_error_set(err, FH_E_CONFIG, "entry_point \"%.*s\" is not a name of a function", (int)FH_MIN(entry.n, 60),
		             entry.p);
		fh_error_hint(err, "write the name that the prompt defines, such as \"has_close_elements\"");
		return -FH_E_CONFIG;
	}
	/* A wrong entry_point is a known defect of data sets, so the function that the prompt defines takes precedence. */
	struct fh_str defined = fh_last_python_def(prompt);
	if (defined.n > 0 && !fh_declares_python(prompt, entry))
		entry = defined;
	p->language = FH_JUDGE_PYTHON;
	p->entry_point = fh_xstrndup(entry.p, entry.n);
	if (fh_judge_field(row, "canonical_solution", &reference))
		fh_buf_add(&p->reference, reference.p, reference.n);
	fh_buf_add(&p->head, prompt.p, prompt.n);
	fh_buf_add(&p->tail, test.p, test.n);
	fh_buf_addf(&p->tail, "\ncheck(%.*s)", FH_STR_ARGS(entry));
	return 0;
}

const struct fh_judge_format fh_judge_human_eval = {
	.name = "human-eval",
	.fields = "task_id, prompt, entry_point, test",
	.recognises = recognises,
	.read = read_row,
};
