/* SPDX-License-Identifier: MIT */
#include "cli/evals/eval_commands.h"

#include "cli/evals/eval_options.h"
#include "cli/shared/options.h"
#include "cli/shared/print.h"
#include "eval/config/schema/schema_export.h"

static const struct fh_opt options[] = { { 0 } };
static const struct fh_command_line command_line = {
	.program = "fumehood schema",
	.synopsis = "",
	.about = "Prints the JSON Schema of promptfooconfig.yaml as `fumehood eval` accepts it, for editors.",
	.details = "Example:\n"
	           "  fumehood schema > .fumehood-schema.json\n"
	           "  # and as the first line of promptfooconfig.yaml:\n"
	           "  # yaml-language-server: $schema=.fumehood-schema.json\n\n"
	           "Exit status: 0, 2 for a wrong command line.",
	.options = options,
};

/* "filterFirstN" of a config is the option --filter-first-n. */
static const struct fh_opt *option_of_key(const char *key)
{
	fh_auto_buf struct fh_buf name = FH_BUF_INIT(0);
	for (const char *p = key; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			fh_buf_addf(&name, "-%c", *p - 'A' + 'a');
		else
			fh_buf_addc(&name, *p);
	for (const struct fh_opt *o = fh_eval_options_table(); o->name; o++)
		if (fh_streq(o->name, fh_buf_cstr(&name)))
			return o;
	return NULL;
}

static void describe_key(json_t *property, const struct fh_opt *o)
{
	fh_auto_buf struct fh_buf text = FH_BUF_INIT(0);
	fh_buf_addf(&text, "As --%s: ", o->name);
	fh_option_sentence(o, &text);
	json_object_set_new(property, "description", json_string(fh_buf_cstr(&text)));
	if (o->kind == FH_OPT_U64 && o->default_number)
		json_object_set_new(property, "default", json_integer((json_int_t)*o->default_number));
	if (o->flags & FH_OPT_ON)
		json_object_set_new(property, "default", json_true());
	if (o->least)
		json_object_set_new(property, "minimum", json_integer((json_int_t)o->least));
}

/* Keys of a config that stand for options of `fumehood eval` are described by the options' rows. A key that has a
 * description already is one that does nothing. */
static void describe_options(json_t *schema)
{
	static const char *const sections[] = { "commandLineOptions", "evaluateOptions" };
	const json_t *definitions = json_object_get(schema, "definitions");
	const char *key;
	json_t *property;
	for (size_t i = 0; i < FH_ARRAY_SIZE(sections); i++) {
		json_t *keys = json_object_get(json_object_get(definitions, sections[i]), "properties");
		json_object_foreach(keys, key, property)
		{
			const struct fh_opt *o = option_of_key(key);
			if (o && !json_object_get(property, "description"))
				describe_key(property, o);
		}
	}
}

int fh_command_schema(int argc, char **argv)
{
	int status;
	if (!fh_options_alone(&command_line, argc, argv, &status))
		return status;
	fh_auto_json json_t *schema = fh_eval_schema_export();
	describe_options(schema);
	fh_auto_free char *text = fh_json_text(schema, 2);
	fh_printf("%s\n", text);
	return fh_print_end(FH_EXIT_OK, FH_EXIT_FAILED);
}
