/* SPDX-License-Identifier: MIT */
#include "cli/shared/options.h"

#include <float.h>
#include <stdio.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "cli/shared/print.h"
#include "cli/shared/term.h"

#define HELP_COLUMN 30
#define HELP_WIDTH_MAX 100

/* ---------------------------------------------------------------------------------------------------------- values */

void fh_opt_list_release(struct fh_opt_list *l)
{
	free(l->items);
	*l = (struct fh_opt_list){ 0 };
}

static void list_add(struct fh_opt_list *l, const char *item)
{
	if (l->count + 1 >= l->capacity) {
		l->capacity = l->capacity ? l->capacity * 2 : 8;
		l->items = fh_xrealloc(l->items, l->capacity, sizeof(*l->items));
	}
	l->items[l->count++] = item;
	l->items[l->count] = NULL;
}

static int take_string(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	*(const char **)o->target = value;
	return 0;
}

static int take_list(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	list_add(o->target, value);
	return 0;
}

static int take_u64(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	return fh_parse_u64(value, 0, UINT64_MAX, o->target, err);
}

static int take_double(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	return fh_parse_double(value, -DBL_MAX, DBL_MAX, o->target, err);
}

static int take_size(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	return fh_parse_size(value, o->target, err);
}

static int take_duration(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	return fh_parse_duration(value, o->target, err);
}

typedef int take_fn(const struct fh_opt *o, const char *value, struct fh_error *err);

/* Flags take no value, so they are missing here. */
static take_fn *const takers[] = {
	[FH_OPT_STRING] = take_string, [FH_OPT_LIST] = take_list, [FH_OPT_U64] = take_u64,
	[FH_OPT_DOUBLE] = take_double, [FH_OPT_SIZE] = take_size, [FH_OPT_DURATION] = take_duration,
};

static int take(const struct fh_opt *o, const char *shown, const char *value, struct fh_error *err)
{
	if ((o->flags & FH_OPT_UNLIMITED) && fh_streq(value, "unlimited")) {
		*(uint64_t *)o->target = UINT64_MAX;
	} else if (takers[o->kind](o, value, err) < 0) {
		if (err)
			err->code = FH_E_ARGUMENT;
		return fh_error_wrap(err, "option %s", shown);
	}
	if (o->given)
		*o->given = true;
	return 0;
}

static int set_flag(const struct fh_opt *o, bool value)
{
	*(bool *)o->target = value;
	if (o->given)
		*o->given = true;
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- parsing */

static bool is_option(const struct fh_opt *o)
{
	return o->name && o->name[0];
}

static const struct fh_opt *find_long(const struct fh_opt *table, struct fh_str name)
{
	for (const struct fh_opt *o = table; o->name; o++)
		if (is_option(o) && fh_str_eq(name, o->name))
			return o;
	return NULL;
}

static const struct fh_opt *find_short(const struct fh_opt *table, char letter)
{
	for (const struct fh_opt *o = table; o->name; o++)
		if (is_option(o) && o->letter == letter)
			return o;
	return NULL;
}

static int unknown_long(const struct fh_command_line *c, struct fh_str name, struct fh_error *err)
{
	fh_auto_free char *word = fh_xstrndup(name.p, name.n);
	struct fh_nearest near = FH_NEAREST_INIT(word);
	for (const struct fh_opt *o = c->options; o->name; o++)
		if (is_option(o) && !(o->flags & FH_OPT_HIDDEN))
			fh_nearest_offer(&near, o->name);
	fh_nearest_offer(&near, "help");
	int r = fh_error_set(err, FH_E_ARGUMENT, "unknown option --%s", word);
	if (near.best)
		fh_error_hint(err, "did you mean --%s?", near.best);
	else
		fh_error_hint(err, "%s --help lists the options", c->program);
	return r;
}

struct cursor {
	const struct fh_command_line *line;
	int argc, i; /* argv[i] is being read */
	char **argv;
	bool help;
};

/* The value of an option that is given as the next word. */
static int next_value(struct cursor *at, const struct fh_opt *o, const char *shown, const char **ret_value,
                      struct fh_error *err)
{
	if (at->i + 1 >= at->argc)
		return fh_error_set(err, FH_E_ARGUMENT, "option %s needs a value: %s %s", shown, shown,
		                    o->argument ? o->argument : "VALUE");
	*ret_value = at->argv[++at->i];
	return 0;
}

static int parse_long(struct cursor *at, struct fh_error *err)
{
	const char *word = at->argv[at->i] + 2, *equals = strchr(word, '=');
	struct fh_str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
	bool off = false;
	const struct fh_opt *o = find_long(at->line->options, name);
	if (!o && fh_str_eq(name, "help")) {
		at->help = true;
		return 0;
	}
	if (!o && name.n > 3 && memcmp(name.p, "no-", 3) == 0) {
		o = find_long(at->line->options, (struct fh_str){ name.p + 3, name.n - 3 });
		if (o && (o->kind != FH_OPT_FLAG || !(o->flags & FH_OPT_NEGATABLE)))
			o = NULL;
		off = o != NULL;
	}
	if (!o)
		return unknown_long(at->line, name, err);
	char shown[96];
	snprintf(shown, sizeof(shown), "--%.*s", FH_STR_ARGS(name));
	if (o->kind == FH_OPT_FLAG) {
		if (equals)
			return fh_error_set(err, FH_E_ARGUMENT, "option %s takes no value", shown);
		return set_flag(o, !off);
	}
	const char *value = equals ? equals + 1 : o->flags & FH_OPT_OPTIONAL ? "" : NULL;
	if (!value) {
		int r = next_value(at, o, shown, &value, err);
		if (r < 0)
			return r;
	}
	return take(o, shown, value, err);
}

static int parse_short(struct cursor *at, struct fh_error *err)
{
	for (const char *p = at->argv[at->i] + 1; *p; p++) {
		const struct fh_opt *o = find_short(at->line->options, *p);
		char shown[3] = { '-', *p, 0 };
		if (!o && *p == 'h') {
			at->help = true;
			return 0;
		}
		if (!o) {
			int r = fh_error_set(err, FH_E_ARGUMENT, "unknown option %s", shown);
			fh_error_hint(err, "%s --help lists the options", at->line->program);
			return r;
		}
		if (o->kind == FH_OPT_FLAG) {
			set_flag(o, true);
			continue;
		}
		const char *value = p[1] ? p + 1 : NULL;
		if (!value) {
			int r = next_value(at, o, shown, &value, err);
			if (r < 0)
				return r;
		}
		return take(o, shown, value, err);
	}
	return 0;
}

int fh_options_parse(const struct fh_command_line *c, int argc, char **argv, bool stop_at_first,
                     struct fh_opt_list *ret_args, bool *ret_help, struct fh_error *err)
{
	struct cursor at = { .line = c, .argc = argc, .argv = argv };
	struct fh_opt_list args = { 0 };
	bool only_arguments = false;
	*ret_help = false;
	for (at.i = 1; at.i < argc; at.i++) {
		const char *word = argv[at.i];
		int r = 0;
		if (only_arguments || word[0] != '-' || word[1] == '\0') {
			list_add(&args, word);
			only_arguments |= stop_at_first;
		} else if (fh_streq(word, "--")) {
			only_arguments = true;
		} else {
			r = word[1] == '-' ? parse_long(&at, err) : parse_short(&at, err);
		}
		if (r < 0) {
			fh_opt_list_release(&args);
			return r;
		}
		if (at.help) {
			*ret_help = true;
			break;
		}
	}
	*ret_args = args;
	return 0;
}

bool fh_options_alone(const struct fh_command_line *c, int argc, char **argv, int *ret_status)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	bool help;
	int r = fh_options_parse(c, argc, argv, false, &args, &help, &err);
	if (r == 0 && !help && args.count > 0)
		r = fh_error_set(&err, FH_E_ARGUMENT, "%s takes no argument, but was given %s", argv[0], args.items[0]);
	fh_opt_list_release(&args);
	if (r == 0 && !help)
		return true;
	*ret_status = r < 0 ? fh_command_failed(&err, FH_EXIT_USAGE) : FH_EXIT_OK;
	if (r == 0)
		fh_options_help(c);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ help */

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
	put_wrapped(out, o->help ? o->help : "", HELP_COLUMN, HELP_COLUMN, width);
}

void fh_options_help(const struct fh_command_line *c)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(1 << 20);
	unsigned width = FH_MAX(FH_MIN(fh_term_width(STDOUT_FILENO), HELP_WIDTH_MAX), 50);
	fh_buf_addf(&out, "Usage: %s %s\n\n", c->program, c->synopsis);
	put_wrapped(&out, c->about, 0, 0, width);
	if (is_option(c->options) || !c->options->name)
		fh_buf_adds(&out, "\nOptions:\n");
	for (const struct fh_opt *o = c->options; o->name; o++) {
		if (o->flags & FH_OPT_HIDDEN)
			continue;
		if (is_option(o))
			put_option(&out, o, width);
		else
			fh_buf_addf(&out, "\n%s:\n", o->help);
	}
	put_option(
	    &out,
	    &(struct fh_opt){ .name = "help", .letter = find_short(c->options, 'h') ? 0 : 'h', .help = "Show this help." },
	    width);
	if (c->details)
		fh_buf_addf(&out, "\n%s\n", c->details);
	fh_print(&out);
}

/* ------------------------------------------------------------------------------------------------------------ errors
 */

static const char *called_as = "fumehood";

void fh_command_called_as(const char *name)
{
	if (name && *name)
		called_as = name;
}

void fh_command_inherit_name(void)
{
	static char name[512];
	const char *given = getenv("FUMEHOOD_CALLED_AS");
	if (given && strlen(given) < sizeof(name)) {
		strcpy(name, given);
		fh_command_called_as(name);
	}
	unsetenv("FUMEHOOD_CALLED_AS");
}

const char *fh_command_name(void)
{
	return called_as;
}

/* Whether "fumehood " at `at` begins a command in backquotes, such as `fumehood ps`. */
static bool is_command(const char *text, const char *at)
{
	static const char *const names[] = { "run", "eval",   "judge", "ps",   "kill", "engine",
		                                 "gc",  "doctor", "env",   "with", "help" };
	const char *word = at + strlen("fumehood ");
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");
	for (size_t i = 0; i < FH_ARRAY_SIZE(names); i++)
		if (n == strlen(names[i]) && memcmp(word, names[i], n) == 0)
			return at == text || strchr(" `(", at[-1]);
	return false;
}

/* Replaces the program's name in commands that the hint tells to type by the name that we were called by. */
static void name_in_hint(struct fh_error *err)
{
	fh_auto_buf struct fh_buf out = FH_BUF_INIT(0);
	const char *from = err->hint, *at = err->hint;
	while ((at = strstr(at, "fumehood "))) {
		if (is_command(err->hint, at)) {
			fh_buf_add(&out, from, (size_t)(at - from));
			fh_buf_adds(&out, called_as);
			from = at + strlen("fumehood");
		}
		at += strlen("fumehood");
	}
	fh_buf_adds(&out, from);
	snprintf(err->hint, sizeof(err->hint), "%s", fh_buf_cstr(&out));
}

int fh_command_failed(const struct fh_error *err, int status)
{
	char text[2048];
	struct fh_error shown = *err;
	name_in_hint(&shown);
	fprintf(stderr, "fumehood: %s\n", fh_error_text(&shown, text, sizeof(text)));
	return status;
}
