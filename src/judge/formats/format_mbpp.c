/* SPDX-License-Identifier: MIT */
/*
 * Google's MBPP, sanitized (task_id, prompt, code, test_imports, test_list) or not (text, test_setup_code); Python. A
 * completion is a complete program; only the imports, which test and program share, are put in front of it. The rest of
 * the set-up code runs after the program, because it may use what the program defines. A row of MBPP+, as EvalPlus
 * publishes it, has both kinds of inputs in `test`, which is used instead of test_list then.
 */
#include "judge/formats/format.h"

#include "code/declaration.h"
#include "code/outline.h"

static bool recognises(const json_t *row)
{
	struct fh_str s;
	return json_is_array(json_object_get(row, "test_list")) && fh_judge_field(row, "code", &s);
}

/* Adds every string of a list, each on its own line. */
static int add_list(const json_t *row, const char *key, struct fh_buf *out, struct fh_error *err)
{
	const json_t *list = json_object_get(row, key), *item;
	size_t i;
	if (list && !json_is_array(list))
		return fh_error_set(err, FH_E_CONFIG, "%s is not a list", key);
	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			return fh_error_set(err, FH_E_CONFIG, "item %zu of %s is not a string", i + 1, key);
		fh_judge_add_lines(out, (struct fh_str){ json_string_value(item), json_string_length(item) });
	}
	return 0;
}

/* The function of the reference that the tests call: the last one they mention, since helpers come first, or else any
 * name that they mention. */
static struct fh_str entry_point_of(struct fh_str code, struct fh_str tests)
{
	struct fh_str found = { "", 0 }, name, rest = code;
	while ((name = fh_last_python_def(rest)).n > 0) {
		if (fh_mentions(tests, name, NULL))
			return name;
		rest.n = name.p - rest.p;
		while (rest.n > 0 && rest.p[rest.n - 1] != '\n')
			rest.n--;
	}
	fh_auto_outline struct fh_outline o = { 0 };
	fh_outline_make(&o, code, FH_SYNTAX_PYTHON);
	for (size_t i = 0; i < o.n; i++)
		for (size_t k = 0; !o.items[i].is_import && k < o.items[i].count; k++)
			if (fh_mentions(tests, o.names[o.items[i].first + k], "(."))
				found = o.names[o.items[i].first + k];
	return found;
}

static int read_row(const json_t *row, struct fh_str text, struct fh_judge_problem *p, struct fh_error *err)
{
	struct fh_str code, setup, test = { "", 0 };
	fh_judge_field(row, "code", &code);
	if (fh_judge_field(row, "test_setup_code", &setup)) {
		fh_outline_add_imports(&p->head, setup, FH_SYNTAX_PYTHON);
		fh_judge_add_lines(&p->tail, setup);
	}
	if (add_list(row, "test_imports", &p->head, err) < 0 || add_list(row, "test_imports", &p->tail, err) < 0)
		return -FH_E_CONFIG;
	size_t imports = p->tail.n;
	fh_judge_field(row, "test", &test);
	fh_judge_add_lines(&p->tail, test);
	if (test.n == 0 && add_list(row, "test_list", &p->tail, err) < 0)
		return -FH_E_CONFIG;
	if (p->tail.n == imports) {
		fh_error_set(err, FH_E_CONFIG, "test_list holds no test");
		fh_error_hint(err, "a task without tests cannot be judged: remove it");
		return -FH_E_CONFIG;
	}
	struct fh_str tests = { p->tail.p + imports, p->tail.n - imports }, entry = entry_point_of(code, tests);
	if (entry.n == 0) {
		fh_error_set(err, FH_E_CONFIG, "no test calls a function that code defines");
		fh_error_hint(err, "its name is taken from code, where it is defined at the beginning of a line");
		return -FH_E_CONFIG;
	}
	p->language = FH_JUDGE_PYTHON;
	p->head_is_shared = true;
	p->entry_point = fh_xstrndup(entry.p, entry.n);
	fh_buf_add(&p->reference, code.p, code.n);
	return 0;
}

const struct fh_judge_format fh_judge_mbpp = {
	.name = "MBPP",
	.fields = "task_id, code, test_list",
	.recognises = recognises,
	.read = read_row,
};
