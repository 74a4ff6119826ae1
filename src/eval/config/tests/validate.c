/* SPDX-License-Identifier: MIT */
#include "base/text/nearest.h"
#include "eval/config/keys.h"
#include "eval/config/tests/tests.h"
#include "eval/grading/assertion.h"

/* Types that compare the columns of a row; they do not check a single answer (select.h). */
static const char *const comparing[] = { "max-score", "select-best" };

static bool compares(const char *type)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(comparing); i++)
		if (strcmp(type, comparing[i]) == 0)
			return true;
	return false;
}

/* Why fumehood does not support an assertion type of promptfoo's; NULL for any other type. */
static const char *refusal_of(const char *type)
{
	static const struct {
		const char *prefix, *why;
	} refused[] = {
		{ "promptfoo:redteam:", "red teaming is promptfoo's; fumehood tests answers, and does not make attacks" },
		{ "pi", "it sends answers to a scoring service of withpi.ai; llm-rubric and g-eval ask a model of your own" },
		{ "human", "it is given in promptfoo's web viewer, not by a config" },
	};
	for (size_t i = 0; i < FH_ARRAY_SIZE(refused); i++) {
		size_t n = strlen(refused[i].prefix);
		if (refused[i].prefix[n - 1] == ':' ? fh_starts_with(type, refused[i].prefix)
		                                    : strcmp(type, refused[i].prefix) == 0)
			return refused[i].why;
	}
	return NULL;
}

/* A type that is almost a known one is taken for a misspelling and stops the eval before it costs anything. Any other
 * unknown type may come from a later promptfoo: its rows become errors, all other rows count. */
static int unknown_type(struct fh_eval_config *c, const struct fh_document *d, const char *type, const char *place,
                        struct fh_error *err)
{
	fh_auto_free char *at = fh_document_member(place, "type");
	const char *base = type + (fh_starts_with(type, "not-") ? 4 : 0), *why = refusal_of(base);
	if (why)
		return fh_document_error(d, at, err, "the assertion \"%s\" is not supported: %s", type, why);
	struct fh_nearest nearest = FH_NEAREST_INIT(base);
	for (size_t i = 0; fh_assertion_at(i); i++)
		fh_nearest_offer(&nearest, fh_assertion_at(i)->name);
	for (size_t i = 0; i < FH_ARRAY_SIZE(comparing); i++)
		fh_nearest_offer(&nearest, comparing[i]);
	fh_nearest_offer(&nearest, "assert-set");
	/* Those that compare columns, and sets, have no form with "not-". */
	bool not = fh_starts_with(type, "not-") && fh_assertion_find(nearest.best ? nearest.best : "");
	if (nearest.best && !c->lenient)
		return fh_document_error(d, at, err, "unknown assertion type \"%s\"; did you mean \"%s%s\"?", type,
		                         not ? "not-" : "", nearest.best);
	fh_eval_config_note(c, d, at, "unknown assertion type \"%s\"; its rows will be errors", type);
	return 0;
}

static int check_assertions(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                            const char *place, unsigned depth, struct fh_error *err);

static int check_set(struct fh_eval_config *c, const struct fh_document *d, const json_t *set, const char *place,
                     unsigned depth, struct fh_error *err)
{
	fh_auto_free char *at = fh_document_member(place, "assert");
	const json_t *list = json_object_get(set, "assert");
	if (depth > 0)
		return fh_document_error(d, place, err, "an assert-set cannot hold another");
	int r = fh_eval_keys_check(c, d, set, place, &fh_eval_keys_assert_set, err);
	if (r < 0)
		return r;
	if (!json_is_array(list))
		return fh_document_error(d, place, err, "an assert-set needs a list \"assert\"");
	return check_assertions(c, d, list, at, depth + 1, err);
}

static int check_assertion(struct fh_eval_config *c, const struct fh_document *d, const json_t *assertion,
                           const char *place, unsigned depth, struct fh_error *err)
{
	if (!json_is_object(assertion))
		return fh_document_error(d, place, err, "an assertion is a map with a \"type\"");
	const char *type = fh_json_str(assertion, "type", NULL);
	if (type && strcmp(type, "assert-set") == 0)
		return check_set(c, d, assertion, place, depth, err);
	const struct fh_assertion *kind = type ? fh_assertion_find(type + (fh_starts_with(type, "not-") ? 4 : 0)) : NULL;
	if (kind && kind->own_keys)
		return kind->validate && kind->validate(assertion, err) < 0 ? fh_document_place(d, place, err) : 0;
	int r = fh_eval_keys_check(c, d, assertion, place, &fh_eval_keys_assertion, err);
	if (r < 0)
		return r;
	if (!type || !*type)
		return fh_document_error(d, place, err, "the assertion has no \"type\"");
	if (compares(type))
		return 0;
	if (!kind)
		return unknown_type(c, d, type, place, err);
	return kind->validate && kind->validate(assertion, err) < 0 ? fh_document_place(d, place, err) : 0;
}

static int check_assertions(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                            const char *place, unsigned depth, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++) {
		fh_auto_free char *at = fh_document_item(place, i);
		r = check_assertion(c, d, json_array_get(list, i), at, depth, err);
	}
	return r;
}

int fh_eval_assertions_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                                const char *place, struct fh_error *err)
{
	return check_assertions(c, d, list, place, 0, err);
}

/* Finds the commonest mistake of indentation: `assert` below `vars` would be a variable, and nothing would be
 * checked. */
static int check_vars(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                      struct fh_error *err)
{
	const json_t *assert = json_object_get(json_object_get(test, "vars"), "assert");
	if (!json_is_array(assert) || !json_object_get(json_array_get(assert, 0), "type") || c->lenient)
		return 0;
	fh_auto_free char *at = fh_document_member(place, "vars/assert");
	int r = fh_document_error(d, at, err, "\"assert\" stands under \"vars\", so that it would check nothing");
	fh_error_hint(err, "indent it as \"vars\" is, not deeper (--lenient takes it as a variable)");
	return r;
}

int fh_eval_test_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                          struct fh_error *err)
{
	if (!json_is_object(test))
		return fh_document_error(d, place, err, "a test is a map with \"vars\" and \"assert\"");
	int r = fh_eval_keys_check(c, d, test, place, &fh_eval_keys_test, err);
	const json_t *options = json_object_get(test, "options");
	if (r == 0 && json_object_size(options) > 0) {
		fh_auto_free char *at_options = fh_document_member(place, "options");
		r = fh_eval_keys_check(c, d, options, at_options, &fh_eval_keys_options, err);
	}
	if (r == 0)
		r = check_vars(c, d, test, place, err);
	if (r < 0)
		return r;
	fh_auto_free char *at = fh_document_member(place, "assert");
	return check_assertions(c, d, json_object_get(test, "assert"), at, 0, err);
}
