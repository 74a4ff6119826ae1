/* SPDX-License-Identifier: MIT */
/*
 * EvalPlus's HumanEval+ and MBPP+: task_id, prompt, entry_point, canonical_solution, base_input, plus_input, atol.
 * Expected values come from the reference (truth.h). A sample passes if it does so for the base and the plus inputs. In
 * MBPP+ a sample is a complete program, because its prompt is not code.
 */
#include "judge/formats/format.h"

#include "code/declaration.h"
#include "code/program_text.h"
#include "json/span.h"
#include "judge/problems/truth.h"
#include "judge/formats/mbpp_plus.h"

static bool recognises(const json_t *row)
{
	struct fh_str s;
	return json_object_get(row, "base_input") && fh_judge_field(row, "canonical_solution", &s) &&
	       fh_judge_field(row, "entry_point", &s);
}

/* Problems with several correct answers, where a property decides. */
static const struct {
	const char *entry_point, *oracle;
} oracles[] = {
	{ "find_zero", "root of polynomial" },
};

static int add_inputs(const json_t *row, struct fh_str text, const char *key, const struct fh_judge_problem *p,
                      struct fh_error *err)
{
	struct fh_judge_truth *t = p->truth;
	const json_t *list = json_object_get(row, key), *input;
	struct fh_str raw, items, item;
	size_t i;
	if (!list || (json_is_object(list) && json_object_size(list) == 0))
		return 0;
	if (!json_is_array(list) || !fh_json_span_member(text, key, &raw))
		return fh_error_set(err, FH_E_CONFIG, "%s is not a list", key);
	items = fh_json_span_items(raw);
	json_array_foreach(list, i, input)
	{
		if (!json_is_array(input) || !fh_json_span_item(&items, &item))
			return fh_error_set(err, FH_E_CONFIG, "item %zu of %s is not a list of arguments", i + 1, key);
		if (fh_mbpp_plus_is(p->task_id))
			fh_mbpp_plus_input(&t->inputs, p->task_id, item);
		else
			fh_python_of_json(&t->inputs, item);
		fh_buf_adds(&t->inputs, ",\n");
		t->count++;
	}
	return 0;
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_str prompt, entry, reference;
	const json_t *atol = json_object_get(row, "atol");
	fh_judge_field(row, "entry_point", &entry);
	fh_judge_field(row, "canonical_solution", &reference);
	if (!fh_judge_field(row, "prompt", &prompt))
		return fh_error_set(err, FH_E_CONFIG, "prompt is not a string");
	bool whole = fh_mbpp_plus_is(p->task_id);
	if (!fh_judge_is_name(entry) || !fh_declares_python(whole ? reference : prompt, entry)) {
		fh_error_set(err, FH_E_CONFIG, "the %s does not define entry_point \"%.*s\"",
		             whole ? "canonical_solution" : "prompt", (int)FH_MIN(entry.n, 60), entry.p);
		return -FH_E_CONFIG;
	}
	struct fh_str raw;
	bool finite = !atol || (fh_json_span_member(text, "atol", &raw) && raw.n > 0 && raw.p[0] >= '0' && raw.p[0] <= '9');
	if (atol && (!json_is_number(atol) || !finite))
		return fh_error_set(err, FH_E_CONFIG, "atol is not a number of 0 or more");
	struct fh_judge_truth *t = p->truth = FH_NEW(struct fh_judge_truth);
	*t = (struct fh_judge_truth){ .inputs = FH_BUF_INIT(0), .oracle = "", .atol = atol ? json_number_value(atol) : 0 };
	fh_buf_adds(&t->inputs, "[\n");
	if (add_inputs(row, text, "base_input", p, err) < 0 || add_inputs(row, text, "plus_input", p, err) < 0)
		return -FH_E_CONFIG;
	fh_buf_adds(&t->inputs, "]");
	if (t->count == 0)
		return fh_error_set(err, FH_E_CONFIG, "neither base_input nor plus_input holds an input");
	if (whole)
		t->oracle = fh_mbpp_plus_oracle(entry);
	for (size_t i = 0; !whole && i < FH_ARRAY_SIZE(oracles); i++)
		if (fh_str_eq(entry, oracles[i].entry_point))
			t->oracle = oracles[i].oracle;
	p->language = FH_JUDGE_PYTHON;
	p->entry_point = fh_xstrndup(entry.p, entry.n);
	if (!whole)
		fh_buf_add(&p->head, prompt.p, prompt.n);
	fh_buf_add(&p->reference, reference.p, reference.n);
	return 0;
}

const struct fh_judge_format fh_judge_evalplus = {
	.name = "EvalPlus",
	.fields = "task_id, prompt, entry_point, canonical_solution, base_input",
	.takes_not_finite = true,
	.recognises = recognises,
	.read = read_row,
};
