/* SPDX-License-Identifier: MIT */
/* --help and --help=json, from the option table. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/shared/options_table.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"
#include "json/json.h"

#define HELP_COLUMN 30
#define HELP_WIDTH_MAX 100

/* ------------------------------------------------------------------------------------------------------ one option */

static void put_size(struct fh_buf *out, uint64_t bytes)
{
	static const char units[] = "KMGT";
	size_t unit = 0;
	while (unit < sizeof(units) - 1 && bytes > 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	fh_buf_addf(out, "%" PRIu64, bytes);
	if (unit > 0)
		fh_buf_addc(out, units[unit - 1]);
}

static void put_duration(struct fh_buf *out, uint64_t ms)
{
	if (ms > 0 && ms % 3600000 == 0)
		fh_buf_addf(out, "%" PRIu64 "h", ms / 3600000);
	else if (ms % 1000 == 0)
		fh_buf_addf(out, "%" PRIu64, ms / 1000);
	else
		fh_buf_addf(out, "%" PRIu64 "ms", ms);
}

void fh_opt_put_number(struct fh_buf *out, enum fh_opt_kind kind, uint64_t number)
{
	if (number == UINT64_MAX)
		fh_buf_adds(out, "unlimited");
	else if (kind == FH_OPT_SIZE)
		put_size(out, number);
	else if (kind == FH_OPT_DURATION)
		put_duration(out, number);
	else if (kind == FH_OPT_MILLI)
		fh_buf_addf(out, "%g", (double)number / 1000);
	else
		fh_buf_addf(out, "%" PRIu64, number);
}

/* The default as a user would type it. False: the option has none of that form. */
static bool put_default(struct fh_buf *out, const struct fh_opt *o)
{
	if (o->default_number)
		fh_opt_put_number(out, o->kind, *o->default_number);
	else if (o->default_text)
		fh_buf_adds(out, o->default_text);
	return o->default_number || o->default_text;
}

void fh_option_sentence(const struct fh_opt *o, struct fh_buf *out)
{
	fh_auto_buf struct fh_buf value = FH_BUF_INIT(0);
	fh_buf_adds(out, o->help ? o->help : "");
	if (o->kind == FH_OPT_LIST)
		fh_buf_adds(out, o->flags & FH_OPT_VARIADIC ? " Takes several words. Repeatable." : " Repeatable.");
	if (o->flags & FH_OPT_ON)
		fh_buf_adds(out, " On by default.");
	else if (put_default(&value, o))
		fh_buf_addf(out, " Default: %s.", fh_buf_cstr(&value));
	else if (o->default_words)
		fh_buf_addf(out, " Default: %s.", o->default_words);
}

/* --help itself, which no table has. -h may be taken by a command's own option. */
static struct fh_opt help_option(const struct fh_opt *table)
{
	return (struct fh_opt){ .name = "help",
		                    .letter = fh_opt_find_letter(table, 'h') ? 0 : 'h',
		                    .kind = FH_OPT_STRING,
		                    .argument = "json",
		                    .help = "Show this help; with =json as data.",
		                    .flags = FH_OPT_OPTIONAL };
}

/* ------------------------------------------------------------------------------------------------------------ text */

/* Appends words of `text`, wrapped at `width`. The first line starts at `column`, the others are indented by
 * `indent`. */
static void put_wrapped(struct fh_buf *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
	bool first = true;
	while (*text) {
		size_t n = strcspn(text, " \n");
		if (!first && column + 1 + n > width) {
			fh_buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fh_buf_addc(out, ' ');
			column++;
		}
		fh_buf_add(out, text, n);
		column += n;
		text += n;
		if (*text == '\n') {
			fh_buf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		} else {
			first = false;
		}
		text += *text != '\0';
	}
	fh_buf_addc(out, '\n');
}

static void put_option(struct fh_buf *out, const struct fh_opt *o, unsigned width)
{
	fh_auto_buf struct fh_buf sentence = FH_BUF_INIT(0);
	size_t start = out->n;
	if (o->letter)
		fh_buf_addf(out, "  -%c, ", o->letter);
	else
		fh_buf_adds(out, "      ");
	fh_buf_addf(out, "--%s%s", o->flags & FH_OPT_NEGATABLE ? "[no-]" : "", o->name);
	if (o->argument)
		fh_buf_addf(out, o->flags & FH_OPT_OPTIONAL ? "[=%s]" : " %s", o->argument);
	size_t column = out->n - start;
	if (column + 2 > HELP_COLUMN) {
		fh_buf_addc(out, '\n');
		column = 0;
	}
	fh_buf_addf(out, "%*s", (int)(HELP_COLUMN - column), "");
	fh_option_sentence(o, &sentence);
	put_wrapped(out, fh_buf_cstr(&sentence), HELP_COLUMN, HELP_COLUMN, width);
}

static void put_commands(struct fh_buf *out, const struct fh_command_line *c)
{
	const char *name, *about;
	fh_buf_adds(out, "\nCommands:\n");
	for (size_t i = 0; c->command(i, &name, &about); i++)
		fh_buf_addf(out, "  %-10s %s\n", name, about);
}

/* Prose is folded. What is indented (examples, tables) stays as it is. */
static void put_details(struct fh_buf *out, const char *details, unsigned width)
{
	for (size_t n; *details; details += n + (details[n] != '\0')) {
		n = strcspn(details, "\n");
		fh_auto_free char *line = fh_xstrndup(details, n);
		if (*line == ' ')
			fh_buf_addf(out, "%s\n", line);
		else
			put_wrapped(out, line, 0, 0, width);
	}
}

static void print_text(const struct fh_command_line *c)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 20);
	unsigned width = FH_MAX(FH_MIN(fh_term_width(STDOUT_FILENO), HELP_WIDTH_MAX), 50);
	const struct fh_opt help = help_option(c->options);
	fh_buf_addf(&out, "Usage: %s %s\n\n", c->program, c->synopsis);
	put_wrapped(&out, c->about, 0, 0, width);
	if (fh_opt_is_option(c->options) || !c->options->name)
		fh_buf_adds(&out, "\nOptions:\n");
	for (const struct fh_opt *o = c->options; o->name; o++) {
		if (o->flags & FH_OPT_HIDDEN)
			continue;
		if (fh_opt_is_option(o))
			put_option(&out, o, width);
		else
			fh_buf_addf(&out, "\n%s:\n", o->help);
	}
	put_option(&out, &help, width);
	if (c->details) {
		fh_buf_addc(&out, '\n');
		put_details(&out, c->details, width);
	}
	if (c->command)
		put_commands(&out, c);
	fh_print(&out);
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

static json_t *of_flag(const void *target)
{
	return json_boolean(*(const bool *)target);
}

static json_t *of_string(const void *target)
{
	const char *text = *(const char *const *)target;
	return text ? fh_json_bytes(fh_str(text)) : json_null();
}

static json_t *of_list(const void *target)
{
	const struct fh_opt_list *l = target;
	json_t *list = json_array();
	for (size_t i = 0; i < l->count; i++)
		json_array_append_new(list, fh_json_bytes(fh_str(l->items[i])));
	return list;
}

static json_t *of_number(const void *target)
{
	uint64_t n = *(const uint64_t *)target;
	return n == UINT64_MAX ? json_string("unlimited") : json_integer((json_int_t)n);
}

static json_t *of_double(const void *target)
{
	return json_real(*(const double *)target);
}

/* What JSON calls a kind, and the JSON of what a target of the kind holds. */
static const struct {
	const char *name;
	json_t *(*value)(const void *target);
} kinds[FH_OPT_KIND_COUNT_] = {
	[FH_OPT_FLAG] = { "flag", of_flag },           [FH_OPT_STRING] = { "text", of_string },
	[FH_OPT_LIST] = { "list", of_list },           [FH_OPT_U64] = { "number", of_number },
	[FH_OPT_DOUBLE] = { "decimal", of_double },    [FH_OPT_SIZE] = { "size", of_number },
	[FH_OPT_DURATION] = { "duration", of_number }, [FH_OPT_MILLI] = { "thousandths", of_number },
};

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *option_json(const struct fh_opt *o, const char *group)
{
	const char letter[] = { o->letter, 0 };
	fh_auto_buf struct fh_buf sentence = FH_BUF_INIT(0), value = FH_BUF_INIT(0);
	json_t *j = json_object();
	fh_option_sentence(o, &sentence);
	json_object_set_new(j, "name", json_string(o->name));
	json_object_set_new(j, "letter", text_or_null(o->letter ? letter : NULL));
	json_object_set_new(j, "kind", json_string(kinds[o->kind].name));
	json_object_set_new(j, "argument", text_or_null(o->argument));
	json_object_set_new(j, "help", json_string(fh_buf_cstr(&sentence)));
	json_object_set_new(j, "group", text_or_null(group));
	json_object_set_new(j, "negatable", json_boolean(o->flags & FH_OPT_NEGATABLE));
	json_object_set_new(j, "optional", json_boolean(o->flags & FH_OPT_OPTIONAL));
	json_object_set_new(j, "variadic", json_boolean(o->flags & FH_OPT_VARIADIC));
	json_object_set_new(j, "unlimited", json_boolean(o->flags & FH_OPT_UNLIMITED));
	json_object_set_new(j, "hidden", json_boolean(o->flags & FH_OPT_HIDDEN));
	if (o->least || o->most)
		json_object_set_new(j, "least", of_number(&o->least));
	if (o->most)
		json_object_set_new(j, "most", of_number(&o->most));
	if (o->flags & FH_OPT_ON)
		json_object_set_new(j, "default", json_true());
	else
		json_object_set_new(j, "default", put_default(&value, o) ? json_string(fh_buf_cstr(&value)) : json_null());
	if (o->target)
		json_object_set_new(j, "value", kinds[o->kind].value(o->target));
	return j;
}

static void print_json(const struct fh_command_line *c)
{
	fh_auto_json json_t *j = json_object();
	json_t *options = json_array(), *commands = json_array();
	const struct fh_opt help = help_option(c->options);
	const char *group = NULL, *name, *about;
	json_object_set_new(j, "command", json_string(c->program));
	json_object_set_new(j, "synopsis", json_string(c->synopsis));
	json_object_set_new(j, "about", json_string(c->about));
	json_object_set_new(j, "details", text_or_null(c->details));
	json_object_set_new(j, "options", options);
	json_object_set_new(j, "commands", commands);
	for (const struct fh_opt *o = c->options; o->name; o++)
		if (fh_opt_is_option(o))
			json_array_append_new(options, option_json(o, group));
		else
			group = o->help;
	json_array_append_new(options, option_json(&help, group));
	for (size_t i = 0; c->command && c->command(i, &name, &about); i++)
		json_array_append_new(commands, json_pack("{s:s, s:s}", "name", name, "about", about));
	fh_auto_free char *text = fh_json_text(j, 2);
	fh_print_line(text);
}

void fh_options_help(const struct fh_command_line *c, enum fh_help form)
{
	if (form == FH_HELP_JSON)
		print_json(c);
	else
		print_text(c);
}
