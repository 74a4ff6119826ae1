/* SPDX-License-Identifier: MIT */
#include "eval/config/schema/schema_export.h"
#include "eval/grading/assertion.h"

/* How often a key's value holds an object of another level: once, as a list, or either. */
enum form { FORM_ONE, FORM_LIST, FORM_ONE_OR_LIST };

static const struct {
	const char *name; /* name in the schema's "definitions" */
	const struct fh_eval_keys *keys;
} levels[] = {
	{ "config", &fh_eval_keys_config },
	{ "evaluateOptions", &fh_eval_keys_evaluate },
	{ "commandLineOptions", &fh_eval_keys_command_line },
	{ "test", &fh_eval_keys_test },
	{ "options", &fh_eval_keys_options },
	{ "assertion", &fh_eval_keys_assertion },
	{ "assertSet", &fh_eval_keys_assert_set },
	{ "scenario", &fh_eval_keys_scenario },
	{ "provider", &fh_eval_keys_provider },
	{ "prompt", &fh_eval_keys_prompt },
	{ "derivedMetric", &fh_eval_keys_derived },
};

static const struct {
	const char *level, *key, *of;
	enum form form;
	bool text_too; /* may also be text: the name of a file, an id, the text itself */
	bool map_too;  /* may also be an object of another form: {PATH: label}, {ID: options}, {path, config} */
} links[] = {
	{ "config", "prompts", "prompt", FORM_ONE_OR_LIST, true, true },
	{ "config", "providers", "provider", FORM_ONE_OR_LIST, true, true },
	{ "config", "targets", "provider", FORM_ONE_OR_LIST, true, true },
	{ "config", "tests", "test", FORM_ONE_OR_LIST, true, true },
	{ "config", "scenarios", "scenario", FORM_LIST, true, false },
	{ "config", "defaultTest", "test", FORM_ONE, true, false },
	{ "config", "evaluateOptions", "evaluateOptions", FORM_ONE, false, false },
	{ "config", "commandLineOptions", "commandLineOptions", FORM_ONE, false, false },
	{ "config", "derivedMetrics", "derivedMetric", FORM_LIST, false, false },
	{ "test", "options", "options", FORM_ONE, false, false },
	{ "test", "assert", "anyAssertion", FORM_LIST, false, false },
	{ "assertSet", "assert", "anyAssertion", FORM_LIST, false, false },
};

static json_t *reference(const char *definition)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/definitions/%s", definition));
}

static json_t *of_shape(enum fh_eval_shape shape)
{
	static const char *const types[FH_SHAPE_COUNT_][2] = {
		[FH_SHAPE_OBJECT] = { "object" },         [FH_SHAPE_LIST] = { "array" },      [FH_SHAPE_NUMBER] = { "number" },
		[FH_SHAPE_TEXT] = { "string", "number" }, [FH_SHAPE_BOOLEAN] = { "boolean" },
	};
	if (shape == FH_SHAPE_VARS)
		return json_pack("{s:[s, s, s, s]}", "type", "object", "string", "array", "null");
	json_t *list = json_array();
	for (size_t i = 0; i < 2 && types[shape][i]; i++)
		json_array_append_new(list, json_string(types[shape][i]));
	if (!json_array_size(list)) {
		json_decref(list);
		return json_object();
	}
	/* A key without a value (null) is allowed. */
	json_array_append_new(list, json_string("null"));
	return json_pack("{s:o}", "type", list);
}

static json_t *of_link(size_t i)
{
	json_t *one = json_pack("[o]", reference(links[i].of)), *any = json_array();
	if (links[i].text_too)
		json_array_append_new(one, json_pack("{s:s}", "type", "string"));
	if (links[i].map_too) /* its keys are not those of the level; they are checked when the config is loaded */
		json_array_append_new(one, json_pack("{s:s}", "type", "object"));
	if (links[i].form != FORM_ONE)
		json_array_append_new(any, json_pack("{s:s, s:{s:O}}", "type", "array", "items", "anyOf", one));
	if (links[i].form != FORM_LIST)
		json_array_extend(any, one);
	else if (links[i].text_too)
		json_array_append_new(any, json_pack("{s:s}", "type", "string"));
	json_array_append_new(any, json_pack("{s:s}", "type", "null"));
	json_decref(one);
	return json_pack("{s:o}", "anyOf", any);
}

static json_t *of_key(const char *level, const struct fh_eval_key *key)
{
	json_t *schema = NULL;
	for (size_t i = 0; i < FH_ARRAY_SIZE(links) && !schema; i++)
		if (strcmp(links[i].level, level) == 0 && strcmp(links[i].key, key->name) == 0)
			schema = of_link(i);
	schema = schema ? schema : of_shape(key->shape);
	if (key->idle)
		json_object_set_new(schema, "description", json_sprintf("Is taken, and does nothing: %s.", key->idle));
	return schema;
}

static json_t *of_level(size_t i)
{
	const struct fh_eval_keys *keys = levels[i].keys;
	json_t *properties = json_object();
	for (size_t k = 0; k < keys->count; k++)
		if (!keys->items[k].refused)
			json_object_set_new(properties, keys->items[k].name, of_key(levels[i].name, &keys->items[k]));
	json_t *schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties",
	                           (int)keys->open);
	if (!keys->open) /* allow x- keys, which the config's author uses for notes and anchors */
		json_object_set_new(schema, "patternProperties", json_pack("{s:{}}", "^x-"));
	return schema;
}

/* All assertion types, each with its "not-" form; only those that have keys of their own if `own`, else only the
 * others. */
static json_t *types_of(bool own)
{
	static const char *const comparing[] = { "max-score", "select-best" };
	json_t *list = json_array();
	const struct fh_assertion *kind;
	for (size_t i = 0; (kind = fh_assertion_at(i)); i++) {
		if (kind->own_keys != own)
			continue;
		json_array_append_new(list, json_string(kind->name));
		json_array_append_new(list, json_sprintf("not-%s", kind->name));
	}
	for (size_t i = 0; !own && i < FH_ARRAY_SIZE(comparing); i++)
		json_array_append_new(list, json_string(comparing[i]));
	return json_pack("{s:o}", "enum", list);
}

static void add_assertions(json_t *definitions)
{
	json_t *usual = json_object_get(definitions, "assertion"), *set = json_object_get(definitions, "assertSet");
	json_object_set_new(json_object_get(usual, "properties"), "type", types_of(false));
	json_object_set_new(usual, "required", json_pack("[s]", "type"));
	json_object_set_new(json_object_get(set, "properties"), "type", json_pack("{s:s}", "const", "assert-set"));
	json_object_set_new(set, "required", json_pack("[s, s]", "type", "assert"));
	json_object_set_new(
	    definitions, "ownAssertion",
	    json_pack("{s:s, s:{s:o}, s:[s]}", "type", "object", "properties", "type", types_of(true), "required", "type"));
	json_object_set_new(
	    definitions, "anyAssertion",
	    json_pack("{s:[o, o, o]}", "anyOf", reference("assertion"), reference("ownAssertion"), reference("assertSet")));
}

json_t *fh_eval_schema_export(void)
{
	json_t *definitions = json_object();
	for (size_t i = 0; i < FH_ARRAY_SIZE(levels); i++)
		json_object_set_new(definitions, levels[i].name, of_level(i));
	add_assertions(definitions);
	return json_pack("{s:s, s:s, s:o, s:o}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
	                 "A config of fumehood eval (promptfooconfig.yaml)", "allOf", json_pack("[o]", reference("config")),
	                 "definitions", definitions);
}
