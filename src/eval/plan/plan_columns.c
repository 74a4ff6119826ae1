/* SPDX-License-Identifier: MIT */
/* The columns of an eval: each provider with each prompt that it runs and that the filters leave. */
#include "eval/plan/plan.h"

#include "eval/common/pattern.h"
#include "eval/plan/selection.h"

static int compile(const char *option, const char *pattern, pcre2_code **ret, struct fh_error *err)
{
	int r = pattern ? fh_pattern_compile(fh_str(pattern), ret, err) : 0;
	return r < 0 ? fh_error_wrap(err, "%s", option) : 0;
}

static bool matches(const pcre2_code *code, const char *a, const char *b)
{
	return !code || fh_pattern_found(code, fh_str(a)) || fh_pattern_found(code, fh_str(b));
}

/* The prompts that a provider runs: its list, if it has one. As in promptfoo a provider without a label is known by its
 * id alone, which the last entry with this id speaks for, labelled or not. */
static const json_t *prompts_of(const struct fh_eval_plan *p, const struct fh_eval_provider *provider)
{
	const json_t *entry = provider->entry;
	for (size_t i = 0; !*provider->label && i < p->provider_columns; i++) {
		const struct fh_eval_provider *other = p->providers.items[i];
		if (json_is_object(other->entry) && strcmp(other->id, provider->id) == 0)
			entry = other->entry;
	}
	return json_object_get(entry, "prompts");
}

int fh_eval_plan_columns(struct fh_eval_plan *p, const struct fh_eval_overrides *o, struct fh_error *err)
{
	fh_auto_pattern pcre2_code *providers = NULL;
	fh_auto_pattern pcre2_code *prompts = NULL;
	int r = compile("--filter-providers", o->filter_providers, &providers, err);
	if (r == 0)
		r = compile("--filter-prompts", o->filter_prompts, &prompts, err);
	for (size_t i = 0; i < p->provider_columns && r == 0; i++) {
		struct fh_eval_provider *provider = p->providers.items[i];
		bool chosen =
		    matches(providers, provider->id, provider->label) || matches(providers, provider->written, provider->label);
		for (size_t j = 0; j < p->prompts.count && chosen; j++) {
			const struct fh_eval_prompt *prompt = &p->prompts.items[j];
			const char *id = prompt->own_id ? prompt->own_id : "";
			if (!fh_eval_selection_has(prompts_of(p, provider), id, prompt->label) ||
			    !matches(prompts, id, prompt->label))
				continue;
			struct fh_eval_column *c = &FH_PUSH(p->columns, p->column_count, p->column_capacity);
			*c = (struct fh_eval_column){ prompt, provider };
		}
	}
	if (r == 0 && p->column_count == 0)
		r = fh_document_error(p->config.document, "providers", err, "no provider is left to run any prompt");
	if (r < 0)
		fh_error_hint(err, "see the providers' \"prompts\" lists and --filter-providers, --filter-prompts");
	return r;
}

bool fh_eval_compares_columns(const json_t *test)
{
	size_t i;
	json_t *assertion;
	json_array_foreach(json_object_get(test, "assert"), i, assertion)
	{
		const char *type = fh_json_str(assertion, "type", "");
		if (fh_streq(type, "select-best") || fh_streq(type, "max-score"))
			return true;
	}
	return false;
}
