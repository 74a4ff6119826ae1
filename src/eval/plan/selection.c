/* SPDX-License-Identifier: MIT */
#include "eval/plan/selection.h"
#include "base/text/nearest.h"

static bool selects(const char *wanted, const char *id, const char *label)
{
	size_t n = strlen(wanted);
	if (n > 0 && wanted[n - 1] == '*')
		return strncmp(label, wanted, n - 1) == 0 || strncmp(id, wanted, n - 1) == 0;
	return strcmp(label, wanted) == 0 || strcmp(id, wanted) == 0 ||
	       (strncmp(label, wanted, n) == 0 && label[n] == ':') || (strncmp(id, wanted, n) == 0 && id[n] == ':');
}

bool fh_eval_selection_has(const json_t *list, const char *id, const char *label)
{
	if (!json_is_array(list))
		return true;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *wanted = json_string_value(json_array_get(list, i));
		if (wanted && selects(wanted, id, label))
			return true;
	}
	return false;
}

bool fh_eval_selection_has_provider(const json_t *list, const struct fh_eval_provider *p)
{
	return fh_eval_selection_has(list, p->id, p->label) || fh_eval_selection_has(list, p->written, p->label);
}

static int unknown(const struct fh_eval_test *t, const char *what, const char *wanted, const struct fh_nearest *nearest,
                   struct fh_error *err)
{
	int r =
	    fh_document_error(t->document, t->place, err, "the test selects %s \"%s\", which does not exist", what, wanted);
	if (nearest->best)
		fh_error_hint(err, "did you mean \"%s\"?", nearest->best);
	else
		fh_error_hint(err, "a %s is selected by its label, its id, or \"prefix*\"", what);
	return r;
}

int fh_eval_selection_check(const struct fh_eval_test *t, const json_t *test, const struct fh_eval_prompts *prompts,
                            const struct fh_eval_providers *providers, size_t count, struct fh_error *err)
{
	size_t i;
	const json_t *entry;
	json_array_foreach(json_object_get(test, "prompts"), i, entry)
	{
		const char *wanted = json_string_value(entry);
		bool known = !wanted;
		struct fh_nearest nearest = FH_NEAREST_INIT(wanted ? wanted : "");
		for (size_t j = 0; j < prompts->count && !known; j++) {
			known = selects(wanted, prompts->items[j].own_id ? prompts->items[j].own_id : "", prompts->items[j].label);
			fh_nearest_offer(&nearest, prompts->items[j].label);
		}
		if (!known)
			return unknown(t, "prompt", wanted, &nearest, err);
	}
	json_array_foreach(json_object_get(test, "providers"), i, entry)
	{
		const char *wanted = json_string_value(entry);
		bool known = !wanted;
		struct fh_nearest nearest = FH_NEAREST_INIT(wanted ? wanted : "");
		for (size_t j = 0; j < count && !known; j++) {
			const struct fh_eval_provider *p = providers->items[j];
			known = selects(wanted, p->id, p->label) || selects(wanted, p->written, p->label);
			fh_nearest_offer(&nearest, *p->label ? p->label : p->id);
		}
		if (!known)
			return unknown(t, "provider", wanted, &nearest, err);
	}
	return 0;
}
