/* SPDX-License-Identifier: MIT */
#include "eval/config/keys.h"
#include "base/text/nearest.h"

#define ANY FH_SHAPE_ANY
#define OBJECT FH_SHAPE_OBJECT
#define LIST FH_SHAPE_LIST
#define NUMBER FH_SHAPE_NUMBER
#define TEXT FH_SHAPE_TEXT
#define BOOLEAN FH_SHAPE_BOOLEAN
#define LEVEL(name_, what_, open_)                                                                                     \
	const struct fh_eval_keys fh_eval_keys_##name_ = {                                                                 \
		.what = (what_), .items = name_##_keys, .count = FH_ARRAY_SIZE(name_##_keys), .open = (open_)                  \
	}

static const char no_redteam[] = "red teaming is promptfoo's; fumehood tests answers, and does not make attacks";
static const char no_sharing[] = "nothing is shared: results stay in the files that -o names";
static const char no_tracing[] = "no OpenTelemetry receiver is started; assertions on traces read the trace that a "
                                 "provider returns in metadata.trace";
static const char on_command_line[] = "give it on the command line, or at the top of the config";
static const char no_suggestions[] =
    "prompts are not suggested; several prompts, or a function that makes them (file://prompts.py:fn), "
    "are compared";

static const struct fh_eval_key config_keys[] = {
	{ "description", TEXT },
	{ "tags", OBJECT },
	{ "prompts", ANY },
	{ "providers", ANY },
	{ "targets", ANY },
	{ "tests", ANY },
	{ "scenarios", ANY },
	{ "defaultTest", ANY },
	{ "evaluateOptions", OBJECT },
	{ "commandLineOptions", OBJECT },
	{ "outputPath", ANY },
	{ "env", OBJECT },
	{ "nunjucksFilters", OBJECT },
	{ "derivedMetrics", LIST },
	{ "extensions", LIST },
	{ "metadata", OBJECT },
	{ "sharing", ANY, .idle = no_sharing },
	{ "tracing", OBJECT, .idle = no_tracing },
	{ "redteam", ANY, .refused = no_redteam },
	{ "plugins", ANY, .refused = no_redteam },
	{ "strategies", ANY, .refused = no_redteam },
	{ "writeLatestResults", BOOLEAN },
	{ "assertionTemplates", ANY },
	{ "definitions", ANY },
	{ "$schema", TEXT },
};
LEVEL(config, "a config", false);

static const struct fh_eval_key evaluate_keys[] = {
	{ "maxConcurrency", NUMBER },
	{ "repeat", NUMBER },
	{ "delay", NUMBER },
	{ "cache", BOOLEAN },
	{ "showProgressBar", BOOLEAN },
	{ "timeoutMs", NUMBER },
	{ "maxEvalTimeMs", NUMBER },
	{ "filterRange", TEXT },
	{ "eventSource", TEXT },
	{ "generateSuggestions", BOOLEAN, .refused = no_suggestions },
	{ "suggestionsCount", NUMBER },
	{ "interactiveProviders", BOOLEAN, .refused = "promptfoo removed it, too" },
};
LEVEL(evaluate, "evaluateOptions", false);

static const struct fh_eval_key command_line_keys[] = {
	{ "maxConcurrency", NUMBER },
	{ "repeat", NUMBER },
	{ "delay", NUMBER },
	{ "cache", BOOLEAN },
	{ "table", BOOLEAN, .idle = on_command_line },
	{ "tableCellMaxLength", NUMBER, .idle = on_command_line },
	{ "write", BOOLEAN, .idle = on_command_line },
	{ "share", BOOLEAN, .idle = no_sharing },
	{ "progressBar", BOOLEAN, .idle = on_command_line },
	{ "verbose", BOOLEAN, .idle = on_command_line },
	{ "description", TEXT, .idle = on_command_line },
	{ "grader", TEXT },
	{ "var", OBJECT },
	{ "vars", TEXT, .idle = on_command_line },
	{ "tests", TEXT, .idle = on_command_line },
	{ "tags", OBJECT },
	{ "prompts", ANY, .idle = on_command_line },
	{ "providers", ANY, .idle = on_command_line },
	{ "config", ANY, .idle = on_command_line },
	{ "output", ANY, .idle = on_command_line },
	{ "assertions", TEXT, .idle = on_command_line },
	{ "modelOutputs", TEXT, .idle = on_command_line },
	{ "promptPrefix", TEXT },
	{ "promptSuffix", TEXT },
	{ "extension", ANY, .idle = on_command_line },
	{ "envFile", ANY, .idle = on_command_line },
	{ "envPath", ANY, .idle = on_command_line },
	{ "watch", BOOLEAN, .idle = on_command_line },
	{ "generateSuggestions", BOOLEAN, .refused = no_suggestions },
	{ "suggestPrompts", NUMBER, .refused = no_suggestions },
	{ "interactiveProviders", BOOLEAN },
	{ "retryErrors", BOOLEAN, .idle = on_command_line },
	{ "filterFirstN", NUMBER },
	{ "filterPattern", TEXT },
	{ "filterRange", TEXT },
	{ "filterMetadata", ANY, .idle = on_command_line },
	{ "filterSample", NUMBER },
	{ "filterSampleSeed", ANY },
	{ "filterProviders", TEXT },
	{ "filterTargets", TEXT },
	{ "filterPrompts", TEXT },
	{ "filterFailing", TEXT },
	{ "filterFailingOnly", TEXT },
	{ "filterErrorsOnly", TEXT },
};
LEVEL(command_line, "commandLineOptions", false);

static const struct fh_eval_key test_keys[] = {
	{ "description", TEXT }, { "vars", FH_SHAPE_VARS }, { "provider", ANY },   { "providers", LIST },
	{ "prompts", LIST },     { "providerOutput", ANY }, { "assert", LIST },    { "assertScoringFunction", TEXT },
	{ "threshold", NUMBER }, { "metadata", OBJECT },    { "options", OBJECT },
};
LEVEL(test, "a test", false);

static const struct fh_eval_key options_keys[] = {
	{ "prefix", TEXT },
	{ "suffix", TEXT },
	{ "transform", TEXT },
	{ "postprocess", TEXT },
	{ "transformVars", TEXT },
	{ "storeOutputAs", TEXT },
	{ "rubricPrompt", ANY },
	{ "provider", ANY },
	{ "factuality", OBJECT },
	{ "disableVarExpansion", BOOLEAN },
	{ "disableConversationVar", BOOLEAN },
	{ "disableDefaultAsserts", BOOLEAN },
	{ "runSerially", BOOLEAN },
	{ "repeat", NUMBER },
};
LEVEL(options, "a test's options", true);

static const struct fh_eval_key assertion_keys[] = {
	{ "type", TEXT },        { "value", ANY },
	{ "config", OBJECT },    { "threshold", NUMBER },
	{ "weight", NUMBER },    { "provider", ANY },
	{ "rubricPrompt", ANY }, { "metric", TEXT },
	{ "transform", TEXT },   { "contextTransform", TEXT },
	{ "sandbox", ANY },
};
LEVEL(assertion, "an assertion", false);

static const struct fh_eval_key assert_set_keys[] = {
	{ "type", TEXT },     { "assert", LIST }, { "threshold", NUMBER },
	{ "weight", NUMBER }, { "metric", TEXT }, { "config", OBJECT },
};
LEVEL(assert_set, "an assert-set", false);

static const struct fh_eval_key scenario_keys[] = {
	{ "description", TEXT },
	{ "config", ANY },
	{ "tests", ANY },
};
LEVEL(scenario, "a scenario", false);

static const struct fh_eval_key provider_keys[] = {
	{ "id", TEXT },      { "label", TEXT }, { "config", OBJECT }, { "prompts", LIST }, { "transform", TEXT },
	{ "delay", NUMBER }, { "env", OBJECT }, { "inputs", OBJECT }, { "callApi", TEXT },
};
LEVEL(provider, "a provider", false);

static const struct fh_eval_key prompt_keys[] = {
	{ "id", TEXT },    { "label", TEXT },    { "display", TEXT },  { "raw", ANY },
	{ "config", ANY }, { "template", TEXT }, { "function", TEXT },
};
LEVEL(prompt, "a prompt", false);

static const struct fh_eval_key derived_keys[] = { { "name", TEXT }, { "value", TEXT } };
LEVEL(derived, "a derived metric", false);

/* ------------------------------------------------------------------------------------------------------ checking */

static bool is_text_list(const json_t *v)
{
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_string(json_array_get(v, i)))
			return false;
	return json_is_array(v);
}

static bool has_shape(const json_t *v, enum fh_eval_shape shape)
{
	switch (shape) {
	case FH_SHAPE_OBJECT:
		return json_is_object(v);
	case FH_SHAPE_LIST:
		return json_is_array(v);
	case FH_SHAPE_NUMBER:
		return json_is_number(v);
	case FH_SHAPE_TEXT:
		return json_is_string(v) || json_is_number(v);
	case FH_SHAPE_BOOLEAN:
		return json_is_boolean(v);
	case FH_SHAPE_VARS:
		return json_is_object(v) || json_is_string(v) || is_text_list(v);
	case FH_SHAPE_ANY:
	case FH_SHAPE_COUNT_:
		break;
	}
	return true;
}

static const char *const shape_names[FH_SHAPE_COUNT_] = {
	[FH_SHAPE_ANY] = "anything",
	[FH_SHAPE_OBJECT] = "a map",
	[FH_SHAPE_LIST] = "a list",
	[FH_SHAPE_NUMBER] = "a number",
	[FH_SHAPE_TEXT] = "text",
	[FH_SHAPE_BOOLEAN] = "true or false",
	[FH_SHAPE_VARS] = "a map, or the name of a file with one",
};

/* Whether a value is empty or false, which means that the key is not used. */
static bool is_empty(const json_t *v)
{
	return json_is_null(v) || json_is_false(v) || (json_is_array(v) && json_array_size(v) == 0) ||
	       (json_is_object(v) && (json_object_size(v) == 0 || json_is_false(json_object_get(v, "enabled"))));
}

/* Whether there is nothing to say about a known key with this value. */
static bool plain(const struct fh_eval_key *key, const json_t *v)
{
	return !key->refused && !key->idle && (json_is_null(v) || has_shape(v, key->shape));
}

static int check_known(struct fh_eval_config *c, const struct fh_document *d, const struct fh_eval_key *key,
                       const json_t *v, const char *at, struct fh_error *err)
{
	if (!json_is_null(v) && !has_shape(v, key->shape))
		return fh_document_error(d, at, err, "\"%s\" must be %s", key->name, shape_names[key->shape]);
	/* Where the setting is on by default, false switches it off and so is no empty value. */
	bool switches = json_is_false(v) && key->idle == on_command_line;
	if (is_empty(v) && !switches) {
		if (key->refused && json_is_object(v) && json_object_size(v) == 0)
			fh_eval_config_warn(c, d, at, "\"%s\" is empty and has no effect: %s", key->name, key->refused);
		return 0;
	}
	if (key->refused)
		return fh_document_error(d, at, err, "\"%s\" is not supported: %s", key->name, key->refused);
	if (key->idle)
		fh_eval_config_warn(c, d, at, "\"%s\" is accepted, but has no effect: %s", key->name, key->idle);
	return 0;
}

static int check_unknown(struct fh_eval_config *c, const struct fh_document *d, const char *name, const char *at,
                         const struct fh_eval_keys *keys, struct fh_error *err)
{
	/* Keys that begin with x- are left to the config's author, for YAML anchors and notes. */
	if (fh_starts_with(name, "x-"))
		return 0;
	struct fh_nearest nearest = FH_NEAREST_INIT(name);
	for (size_t i = 0; i < keys->count; i++)
		fh_nearest_offer(&nearest, keys->items[i].name);
	if (nearest.best && !c->lenient) {
		int r = fh_document_error(d, at, err, "\"%s\" is not known in %s; did you mean \"%s\"?", name, keys->what,
		                          nearest.best);
		fh_error_hint(err, "with --lenient the config is run without this key");
		return r;
	}
	if (!keys->open)
		fh_eval_config_note(c, d, at, "\"%s\" is not known in %s, and has no effect", name, keys->what);
	return 0;
}

int fh_eval_keys_check(struct fh_eval_config *c, const struct fh_document *d, const json_t *object, const char *place,
                       const struct fh_eval_keys *keys, struct fh_error *err)
{
	const char *name;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		size_t i = 0;
		while (i < keys->count && strcmp(keys->items[i].name, name) != 0)
			i++;
		/* Nearly every key is known and has a plain value, which needs no check: its place is not written out. */
		if (i < keys->count && plain(&keys->items[i], v))
			continue;
		fh_auto_free char *at = fh_document_member(place, name);
		int r =
		    i < keys->count ? check_known(c, d, &keys->items[i], v, at, err) : check_unknown(c, d, name, at, keys, err);
		if (r < 0)
			return r;
	}
	return 0;
}
