/* SPDX-License-Identifier: MIT */
#include "eval/tests.h"
#include "base/nearest.h"
#include "eval/assertion.h"

/* The shapes of keys of a test; anything else is passed on as it is. */
enum shape { ANY, OBJECT, LIST, NUMBER, TEXT, BOOLEAN };
static const char *const shape_names[] = { "anything", "a map", "a list", "a number", "text", "true or false" };

struct key {
	const char *name;
	enum shape shape;
};
static const struct key test_keys[] = {
	{ "description", TEXT }, { "vars", OBJECT },        { "provider", ANY },   { "providers", LIST },
	{ "prompts", LIST },     { "providerOutput", ANY }, { "assert", LIST },    { "assertScoringFunction", TEXT },
	{ "threshold", NUMBER }, { "metadata", OBJECT },    { "options", OBJECT },
};
static const struct key assertion_keys[] = {
	{ "type", TEXT },        { "value", ANY },
	{ "config", OBJECT },    { "threshold", NUMBER },
	{ "weight", NUMBER },    { "provider", ANY },
	{ "rubricPrompt", ANY }, { "metric", TEXT },
	{ "transform", TEXT },   { "contextTransform", TEXT },
	{ "assert", LIST },
};

static bool has_shape(const json_t *v, enum shape shape)
{
	switch (shape) {
	case ANY:
		return true;
	case OBJECT:
		return json_is_object(v);
	case LIST:
		return json_is_array(v);
	case NUMBER:
		return json_is_number(v);
	case TEXT:
		return json_is_string(v) || json_is_number(v);
	case BOOLEAN:
		return json_is_boolean(v);
	}
	return false;
}

static int check_keys(const struct fh_document *d, const json_t *object, const char *place, const struct key *keys,
                      size_t n, struct fh_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_object_get(object, keys[i].name);
		if (!v || json_is_null(v) || has_shape(v, keys[i].shape))
			continue;
		fh_auto_free char *at = fh_xasprintf("%s%s%s", place, *place ? "/" : "", keys[i].name);
		return fh_document_error(d, at, err, "\"%s\" must be %s", keys[i].name, shape_names[keys[i].shape]);
	}
	return 0;
}

/* A mistyped key changes what a test means without a word: say so. */
static void warn_keys(struct fh_eval_config *c, const struct fh_document *d, const json_t *object, const char *place,
                      const struct key *keys, size_t n)
{
	const char *name;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		struct fh_nearest nearest = FH_NEAREST_INIT(name);
		bool known = false;
		for (size_t i = 0; i < n && !known; i++)
			known = strcmp(keys[i].name, name) == 0;
		for (size_t i = 0; i < n && !known; i++)
			fh_nearest_offer(&nearest, keys[i].name);
		if (known || !nearest.best)
			continue;
		fh_auto_free char *at = fh_xasprintf("%s%s%s", place, *place ? "/" : "", name);
		fh_eval_config_warn(c, d, at, "\"%s\" is not known; did you mean \"%s\"?", name, nearest.best);
	}
}

/* A type that is nearly a known one is a slip, and stops the eval before anything is spent. One that is like none may
 * come from a later promptfoo: its rows become errors, the others count. */
static int unknown_type(struct fh_eval_config *c, const struct fh_document *d, const char *type, const char *place,
                        struct fh_error *err)
{
	fh_auto_free char *at = fh_xasprintf("%s/type", place);
	struct fh_nearest nearest = FH_NEAREST_INIT(type + (fh_starts_with(type, "not-") ? 4 : 0));
	for (size_t i = 0; fh_assertion_at(i); i++)
		fh_nearest_offer(&nearest, fh_assertion_at(i)->name);
	fh_nearest_offer(&nearest, "assert-set");
	fh_nearest_offer(&nearest, "max-score");
	if (nearest.best)
		return fh_document_error(d, at, err, "unknown assertion type \"%s\"; did you mean \"%s%s\"?", type,
		                         fh_starts_with(type, "not-") ? "not-" : "", nearest.best);
	fh_eval_config_warn(c, d, at, "unknown assertion type \"%s\"; its rows will be errors", type);
	return 0;
}

static int check_assertions(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                            const char *place, unsigned depth, struct fh_error *err);

static int check_assertion(struct fh_eval_config *c, const struct fh_document *d, const json_t *assertion,
                           const char *place, unsigned depth, struct fh_error *err)
{
	if (!json_is_object(assertion))
		return fh_document_error(d, place, err, "an assertion is a map with a \"type\"");
	const char *type = fh_json_str(assertion, "type", NULL);
	if (!type || !*type)
		return fh_document_error(d, place, err, "the assertion has no \"type\"");
	int r = check_keys(d, assertion, place, assertion_keys, FH_ARRAY_SIZE(assertion_keys), err);
	if (r < 0)
		return r;
	const struct fh_assertion *kind = fh_assertion_find(type + (fh_starts_with(type, "not-") ? 4 : 0));
	if (!kind || !kind->validate) /* a kind that checks itself may have keys of its own */
		warn_keys(c, d, assertion, place, assertion_keys, FH_ARRAY_SIZE(assertion_keys));
	if (strcmp(type, "max-score") == 0)
		return 0;
	if (strcmp(type, "assert-set") == 0) {
		fh_auto_free char *at = fh_xasprintf("%s/assert", place);
		const json_t *list = json_object_get(assertion, "assert");
		if (!json_is_array(list) || depth > 0)
			return fh_document_error(d, place, err,
			                         depth > 0 ? "an assert-set cannot hold another"
			                                   : "an assert-set needs a list \"assert\"");
		return check_assertions(c, d, list, at, depth + 1, err);
	}
	if (!kind)
		return unknown_type(c, d, type, place, err);
	if (kind->validate && kind->validate(assertion, err) < 0)
		return fh_document_place(d, place, err);
	return 0;
}

static int check_assertions(struct fh_eval_config *c, const struct fh_document *d, const json_t *list,
                            const char *place, unsigned depth, struct fh_error *err)
{
	int r = 0;
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++) {
		fh_auto_free char *at = fh_xasprintf("%s/%zu", place, i);
		r = check_assertion(c, d, json_array_get(list, i), at, depth, err);
	}
	return r;
}

/* What would change a verdict and is not carried out by this version is refused, not ignored. */
static int refuse_unsupported(const struct fh_document *d, const json_t *test, const char *place, struct fh_error *err)
{
	static const char *const keys[][2] = { { NULL, "assertScoringFunction" }, { "options", "storeOutputAs" } };
	for (size_t i = 0; i < FH_ARRAY_SIZE(keys); i++) {
		const json_t *holder = keys[i][0] ? json_object_get(test, keys[i][0]) : test;
		const json_t *v = json_object_get(holder, keys[i][1]);
		if (!v || json_is_null(v))
			continue;
		fh_auto_free char *at = fh_xasprintf("%s%s%s%s%s", place, *place ? "/" : "", keys[i][0] ? keys[i][0] : "",
		                                     keys[i][0] ? "/" : "", keys[i][1]);
		return fh_document_error(d, at, err, "\"%s\" is not supported", keys[i][1]);
	}
	return 0;
}

int fh_eval_test_validate(struct fh_eval_config *c, const struct fh_document *d, const json_t *test, const char *place,
                          struct fh_error *err)
{
	if (!json_is_object(test))
		return fh_document_error(d, place, err, "a test is a map with \"vars\" and \"assert\"");
	int r = check_keys(d, test, place, test_keys, FH_ARRAY_SIZE(test_keys), err);
	if (r == 0)
		r = refuse_unsupported(d, test, place, err);
	if (r < 0)
		return r;
	warn_keys(c, d, test, place, test_keys, FH_ARRAY_SIZE(test_keys));
	fh_auto_free char *at = fh_xasprintf("%s%sassert", place, *place ? "/" : "");
	return check_assertions(c, d, json_object_get(test, "assert"), at, 0, err);
}
