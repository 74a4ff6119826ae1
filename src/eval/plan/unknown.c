/* SPDX-License-Identifier: MIT */
#include "eval/plan/unknown.h"
#include "base/text/nearest.h"
#include "template/template.h"

/* A search for unknown names: one template, and the row whose variables it is checked against. */
struct look {
	struct fh_eval_plan *plan;
	const struct fh_eval_row *row;
	const json_t *stored; /* names that storeOutputAs defines */
	json_t *found;        /* the unknown names, as an object {name: true} */
};

static bool is_runtime(const char *name)
{
	static const char *const names[] = { "env",      "_conversation", "sessionId",
		                                 "__evalId", "__evalStepId",  "__repeatIndex" };
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void on_name(void *context, const char *name)
{
	struct look *l = context;
	if (!is_runtime(name) && !json_object_get(json_object_get(l->row->test, "vars"), name) &&
	    !json_object_get(l->stored, name))
		json_object_set_new(l->found, name, json_true());
}

static void look_at(struct look *l, const struct fh_text_template *t)
{
	if (t)
		fh_text_template_each_name(t, on_name, l);
}

static const char *nearest_var(const struct fh_eval_plan *p, const char *name)
{
	struct fh_nearest nearest = FH_NEAREST_INIT(name);
	for (size_t i = 0; i < p->var_count; i++)
		fh_nearest_offer(&nearest, p->vars[i]);
	return nearest.best;
}

/* Warns of the unknown names of one template, with the number of tests that lack each. */
static void tell(struct fh_eval_plan *p, const json_t *counts, size_t rows, const char *what, const char *label)
{
	const char *name;
	json_t *n;
	json_object_foreach((json_t *)(uintptr_t)counts, name, n)
	{
		size_t count = (size_t)json_integer_value(n);
		/* A name that some tests have is right. */
		const char *best = count == rows ? nearest_var(p, name) : NULL;
		fh_eval_config_note(&p->config, p->config.document, what, "\"%s\" is not a variable of %s%s%s%s (in %s %.80s)",
		                    name, count == rows ? "any test" : "every test", best ? "; did you mean \"" : "",
		                    best ? best : "", best ? "\"?" : "", what, label);
	}
}

static void look_at_prompt(struct fh_eval_plan *p, const struct fh_eval_prompt *prompt, const json_t *stored)
{
	struct fh_str raw = fh_str(prompt->raw);
	if (prompt->file || !fh_text_template_has_tags(raw))
		return;
	fh_auto_template struct fh_text_template *t = fh_text_template_compile(raw, "prompt", NULL);
	fh_auto_json json_t *counts = json_object();
	for (size_t i = 0; t && i < p->row_count; i++) {
		fh_auto_json json_t *found = json_object();
		struct look l = { p, &p->rows[i], stored, found };
		const char *name;
		json_t *v;
		look_at(&l, t);
		json_object_foreach(found, name, v)
		    json_object_set_new(counts, name, json_integer(fh_json_int(counts, name, 0) + 1));
	}
	tell(p, counts, p->row_count, "prompts", prompt->label);
}

void fh_eval_note_unknown_vars(struct fh_eval_plan *p)
{
	fh_auto_json json_t *stored = json_object();
	for (size_t i = 0; i < p->row_count; i++) {
		const char *name = fh_json_str(json_object_get(p->rows[i].test, "options"), "storeOutputAs", NULL);
		if (name)
			json_object_set_new(stored, name, json_true());
	}
	for (size_t i = 0; i < p->prompts.count; i++)
		look_at_prompt(p, &p->prompts.items[i], stored);
}
