/* SPDX-License-Identifier: MIT */
#include "cli/shared/options.h"

#include <float.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/fd.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "cli/shared/options_table.h"
#include "cli/shared/print.h"

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

static int take_milli(const struct fh_opt *o, const char *value, struct fh_error *err)
{
	double number = 0;
	int r = fh_parse_double(value, 0, 1e15, &number, err);
	if (r == 0)
		*(uint64_t *)o->target = (uint64_t)(number * 1000 + 0.5);
	return r;
}

typedef int take_fn(const struct fh_opt *o, const char *value, struct fh_error *err);

/* Flags take no value, so they are missing here. */
static take_fn *const takers[FH_OPT_KIND_COUNT_] = {
	[FH_OPT_STRING] = take_string, [FH_OPT_LIST] = take_list, [FH_OPT_U64] = take_u64,
	[FH_OPT_DOUBLE] = take_double, [FH_OPT_SIZE] = take_size, [FH_OPT_DURATION] = take_duration,
	[FH_OPT_MILLI] = take_milli,
};

static int outside(const struct fh_opt *o, struct fh_error *err)
{
	fh_auto_buf struct fh_buf least = FH_BUF_INIT(0), most = FH_BUF_INIT(0);
	fh_opt_put_number(&least, o->kind, o->least);
	fh_opt_put_number(&most, o->kind, o->most);
	if (!o->most)
		return fh_error_set(err, FH_E_ARGUMENT, "option --%s: at least %s", o->name, fh_buf_cstr(&least));
	if (!o->least)
		return fh_error_set(err, FH_E_ARGUMENT, "option --%s: at most %s", o->name, fh_buf_cstr(&most));
	return fh_error_set(err, FH_E_ARGUMENT, "option --%s: from %s to %s", o->name, fh_buf_cstr(&least),
	                    fh_buf_cstr(&most));
}

/* Elsewhere "-" is standard output, so that a file of that name would be a surprise. */
static int no_file(const char *shown, struct fh_error *err)
{
	int r = fh_error_set(err, FH_E_ARGUMENT, "option %s: - is not the name of a file here", shown);
	fh_error_hint(err, "name a file, such as ./- for one of that name; what the command prints goes to standard output "
	                   "without the option");
	return r;
}

/* `shown`: the option as the user wrote it. */
static int convert(const struct fh_opt *o, const char *shown, const char *value, struct fh_error *err)
{
	if ((o->flags & FH_OPT_UNLIMITED) && fh_streq(value, "unlimited")) {
		*(uint64_t *)o->target = UINT64_MAX;
		return 0;
	}
	if ((o->flags & FH_OPT_WRITES) && fh_streq(value, "-"))
		return no_file(shown, err);
	if (takers[o->kind](o, value, err) < 0) {
		if (err)
			err->code = FH_E_ARGUMENT;
		return fh_error_wrap(err, "option %s", shown);
	}
	if (!o->least && !o->most) /* texts and fractions have no bounds */
		return 0;
	uint64_t number = *(uint64_t *)o->target;
	return number < o->least || (o->most && number > o->most) ? outside(o, err) : 0;
}

static int take(const struct fh_opt *o, const char *shown, const char *value, struct fh_error *err)
{
	int r = convert(o, shown, value, err);
	if (r == 0 && o->given)
		*o->given = true;
	return r;
}

static int set_flag(const struct fh_opt *o, bool value)
{
	*(bool *)o->target = value;
	if (o->given)
		*o->given = true;
	return 0;
}

/* Fails only where a table names a default that its own kind and bounds refuse. */
static int store_defaults(const struct fh_opt *table, struct fh_error *err)
{
	for (const struct fh_opt *o = table; o->name; o++) {
		int r = 0;
		if (o->flags & FH_OPT_ON)
			*(bool *)o->target = true;
		else if (o->default_number)
			*(uint64_t *)o->target = *o->default_number;
		else if (o->default_text)
			r = convert(o, o->name, o->default_text, err);
		if (r < 0)
			return fh_error_wrap(err, "the default of --%s", o->name);
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- parsing */

static const struct fh_opt *find_long(const struct fh_opt *table, struct fh_str name)
{
	for (const struct fh_opt *o = table; o->name; o++)
		if (fh_opt_is_option(o) && fh_str_eq(name, o->name))
			return o;
	return NULL;
}

const struct fh_opt *fh_opt_find_letter(const struct fh_opt *table, char letter)
{
	for (const struct fh_opt *o = table; o->name; o++)
		if (fh_opt_is_option(o) && o->letter == letter)
			return o;
	return NULL;
}

/* Names that other tools give to what an option of ours does, where its own name is not alike. */
static const struct {
	const char *word, *name;
} elsewhere[] = {
	{ "timeout", "wall-time" },
	{ "time-limit", "wall-time" },
	{ "time", "wall-time" },
	{ "cpus", "cpu-rate" },
	{ "mem", "memory" },
	{ "memory-limit", "memory" },
	{ "max-memory", "memory" },
	{ "pids-limit", "processes" },
	{ "in", "file" },
	{ "input", "stdin-file" },
	{ "input-file", "stdin-file" },
	{ "stdin", "stdin-file" },
	{ "volume", "mount" },
	{ "bind", "mount" },
	{ "lang", "language" },
	{ "workers", "jobs" },
	{ "parallel", "jobs" },
	{ "n-workers", "jobs" },
	{ "concurrency", "jobs" },
	{ "output", "out" },
	{ "workdir", "cwd" },
	{ "model-output", "replay" },
	{ "tls-cert", "tls-certificate" },
	{ "listen", "address" },
	{ "host", "address" },
	{ "api-keys", "api-key-file" },
	{ "key-file", "api-key-file" },
};

static const char *known_elsewhere(const struct fh_command_line *c, struct fh_str name)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(elsewhere); i++)
		if (fh_str_eq(name, elsewhere[i].word) && find_long(c->options, fh_str(elsewhere[i].name)))
			return elsewhere[i].name;
	return NULL;
}

/* An option that follows the file to run, and that we do not know, belongs to the program. */
static bool takes_words_of_a_program(const struct fh_command_line *c)
{
	return c->synopsis && strstr(c->synopsis, "[-- ARGS");
}

static int unknown_long(const struct fh_command_line *c, struct fh_str name, bool behind_argument, struct fh_error *err)
{
	fh_auto_free char *word = fh_xstrndup(name.p, name.n);
	const char *other = known_elsewhere(c, name);
	struct fh_nearest near = FH_NEAREST_INIT(word);
	for (const struct fh_opt *o = c->options; o->name; o++)
		if (fh_opt_is_option(o) && !(o->flags & FH_OPT_HIDDEN))
			fh_nearest_offer(&near, o->name);
	fh_nearest_offer(&near, "help");
	int r = fh_error_set(err, FH_E_ARGUMENT, "unknown option --%s", word);
	if (other || near.best)
		fh_error_hint(err, "did you mean --%s?", other ? other : near.best);
	else if (behind_argument && takes_words_of_a_program(c))
		fh_error_hint(err, "options for the program stand behind --: -- --%s", word);
	else
		fh_error_hint(err, "%s --help lists the options", c->program);
	return r;
}

/* Words of other tools for actions of ours. */
static const struct {
	const char *word, *action;
} actions_elsewhere[] = {
	{ "create", "new" },      { "start", "new" },      { "stop", "rm" },
	{ "kill", "rm" },         { "delete", "rm" },      { "remove", "rm" },
	{ "destroy", "rm" },      { "terminate", "rm" },   { "shell", "attach" },
	{ "connect", "attach" },  { "enter", "attach" },   { "console", "attach" },
	{ "ps", "list" },         { "fork", "branch" },    { "clone", "branch" },
	{ "commit", "snapshot" }, { "save", "snapshot" },  { "checkpoint", "snapshot" },
	{ "freeze", "pause" },    { "unpause", "resume" }, { "unfreeze", "resume" },
	{ "copy", "cp" },         { "upload", "cp" },      { "download", "cp" },
	{ "push", "cp" },         { "pull", "cp" },
};

static const char *action_elsewhere(const char *word, const char *action)
{
	for (size_t i = 0; i < FH_ARRAY_SIZE(actions_elsewhere); i++)
		if (fh_streq(word, actions_elsewhere[i].word) && fh_streq(action, actions_elsewhere[i].action))
			return actions_elsewhere[i].action;
	return NULL;
}

int fh_action_refused(struct fh_error *err, const char *command, const char *actions, const struct fh_opt_list *args)
{
	static const char between[] = ", ";
	const char *word = args->count ? args->items[0] : NULL;
	bool known = false;
	fh_auto_free char *copy = fh_xstrdup(actions);
	struct fh_nearest near = FH_NEAREST_INIT(word ? word : "");
	const char *meant = NULL;
	char *rest = NULL;
	for (char *action = strtok_r(copy, between, &rest); action; action = strtok_r(NULL, between, &rest))
		if (!fh_streq(action, "and")) {
			fh_nearest_offer(&near, action);
			known |= fh_streq(action, word);
			if (word && !meant)
				meant = action_elsewhere(word, action);
		}
	if (known && args->count > 1)
		return fh_error_set(err, FH_E_ARGUMENT, "%s %s takes no argument, but was given %s", command, word,
		                    args->items[1]);
	int r = word ? fh_error_set(err, FH_E_ARGUMENT, "%s cannot %s: it needs one of %s", command, word, actions)
	             : fh_error_set(err, FH_E_ARGUMENT, "%s needs one of %s", command, actions);
	if (meant || near.best)
		fh_error_hint(err, "did you mean `fumehood %s %s`?", command, meant ? meant : near.best);
	else
		fh_error_hint(err, "`fumehood %s --help` describes them", command);
	return r;
}

struct cursor {
	const struct fh_command_line *line;
	int argc, i; /* argv[i] is being read */
	char **argv;
	enum fh_help help;
	bool behind_argument; /* an argument that is no option has been read */
	/* The given options that are for some actions only, each once. */
	const struct fh_opt **of_actions;
	size_t of_actions_count, of_actions_capacity;
};

static void note_actions(struct cursor *at, const struct fh_opt *o)
{
	bool noted = !o->actions;
	for (size_t i = 0; i < at->of_actions_count; i++)
		noted = noted || at->of_actions[i] == o;
	if (!noted)
		FH_PUSH(at->of_actions, at->of_actions_count, at->of_actions_capacity) = o;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = text; n > 0 && (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
			return true;
	return false;
}

/* An action that the synopsis does not have is the command's to tell. */
static int check_actions(const struct cursor *at, const char *action, struct fh_error *err)
{
	for (size_t i = 0; i < at->of_actions_count; i++) {
		const struct fh_opt *o = at->of_actions[i];
		if (has_word(o->actions, action) || !has_word(at->line->synopsis, action))
			continue;
		int r = fh_error_set(err, FH_E_ARGUMENT, "option --%s means nothing to `%s %s`", o->name, at->line->program,
		                     action);
		fh_error_hint(err, "it is for: %s", o->actions);
		return r;
	}
	return 0;
}

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

static int take_help(struct cursor *at, const char *form, struct fh_error *err)
{
	if (form && !fh_streq(form, "json"))
		return fh_error_set(err, FH_E_ARGUMENT, "option --help: --help or --help=json");
	at->help = form ? FH_HELP_JSON : FH_HELP_TEXT;
	return 0;
}

/* Takes an option's value: `written`, which stands in the same word, or the next word if that is NULL. A variadic
 * option takes the words after it, too, up to the next option. */
static int take_values(struct cursor *at, const struct fh_opt *o, const char *shown, const char *written,
                       struct fh_error *err)
{
	const char *value = written;
	int r = written ? 0 : next_value(at, o, shown, &value, err);
	if (r == 0)
		r = take(o, shown, value, err);
	while (r == 0 && !written && (o->flags & FH_OPT_VARIADIC) && at->i + 1 < at->argc && at->argv[at->i + 1][0] != '-')
		r = take(o, shown, at->argv[++at->i], err);
	return r;
}

static int parse_long(struct cursor *at, struct fh_error *err)
{
	const char *word = at->argv[at->i] + 2, *equals = strchr(word, '=');
	struct fh_str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
	bool off = false;
	const struct fh_opt *o = find_long(at->line->options, name);
	if (!o && fh_str_eq(name, "help"))
		return take_help(at, equals ? equals + 1 : NULL, err);
	if (!o && name.n > 3 && memcmp(name.p, "no-", 3) == 0) {
		o = find_long(at->line->options, (struct fh_str){ name.p + 3, name.n - 3 });
		if (o && (o->kind != FH_OPT_FLAG || !(o->flags & FH_OPT_NEGATABLE)))
			o = NULL;
		off = o != NULL;
	}
	if (!o)
		return unknown_long(at->line, name, at->behind_argument, err);
	char shown[96];
	snprintf(shown, sizeof(shown), "--%.*s", FH_STR_ARGS(name));
	note_actions(at, o);
	if (o->kind == FH_OPT_FLAG) {
		if (equals)
			return fh_error_set(err, FH_E_ARGUMENT, "option %s takes no value", shown);
		return set_flag(o, !off);
	}
	return take_values(at, o, shown, equals ? equals + 1 : o->flags & FH_OPT_OPTIONAL ? "" : NULL, err);
}

/* A letter of the other case is what was meant, most often: -v for -V. */
static int unknown_short(const struct fh_command_line *c, char letter, struct fh_error *err)
{
	char other = (char)(letter ^ ('a' ^ 'A'));
	const struct fh_opt *near = other ? fh_opt_find_letter(c->options, other) : NULL;
	int r = fh_error_set(err, FH_E_ARGUMENT, "unknown option -%c", letter);
	if (near)
		fh_error_hint(err, "did you mean -%c (--%s)?", other, near->name);
	else
		fh_error_hint(err, "%s --help lists the options", c->program);
	return r;
}

static int parse_short(struct cursor *at, struct fh_error *err)
{
	for (const char *p = at->argv[at->i] + 1; *p; p++) {
		const struct fh_opt *o = fh_opt_find_letter(at->line->options, *p);
		char shown[3] = { '-', *p, 0 };
		if (!o && *p == 'h') {
			at->help = FH_HELP_TEXT;
			return 0;
		}
		if (!o)
			return unknown_short(at->line, *p, err);
		note_actions(at, o);
		if (o->kind == FH_OPT_FLAG) {
			set_flag(o, true);
			continue;
		}
		return take_values(at, o, shown, p[1] ? p + 1 : NULL, err);
	}
	return 0;
}

int fh_options_parse(const struct fh_command_line *c, int argc, char **argv, bool stop_at_first,
                     struct fh_opt_list *ret_args, enum fh_help *ret_help, struct fh_error *err)
{
	struct cursor at = { .line = c, .argc = argc, .argv = argv };
	struct fh_opt_list args = { 0 };
	bool only_arguments = false;
	*ret_help = FH_HELP_NONE;
	int r = store_defaults(c->options, err);
	if (r < 0)
		return r;
	for (at.i = 1; at.i < argc; at.i++) {
		const char *word = argv[at.i];
		if (only_arguments || word[0] != '-' || word[1] == '\0') {
			list_add(&args, word);
			at.behind_argument = true;
			only_arguments |= stop_at_first;
		} else if (fh_streq(word, "--")) {
			only_arguments = true;
		} else {
			r = word[1] == '-' ? parse_long(&at, err) : parse_short(&at, err);
		}
		if (r < 0 || at.help)
			break;
	}
	if (r == 0 && !at.help && args.count > 0)
		r = check_actions(&at, args.items[0], err);
	free(at.of_actions);
	if (r < 0) {
		fh_opt_list_release(&args);
		return r;
	}
	*ret_help = at.help;
	*ret_args = args;
	return 0;
}

static int refuse_argument(const struct fh_command_line *c, const char *command, const char *arg, struct fh_error *err)
{
	int r = fh_error_set(err, FH_E_ARGUMENT, "%s takes no argument, but was given %s", command, arg);
	bool port = false;
	for (const struct fh_opt *o = c->options; o->name; o++)
		port |= fh_streq(o->name, "port");
	if (port && arg[0] && arg[strspn(arg, "0123456789")] == 0)
		fh_error_hint(err, "did you mean --port %s?", arg);
	else
		fh_error_hint(err, "%s --help lists the options", c->program);
	return r;
}

bool fh_options_alone(const struct fh_command_line *c, int argc, char **argv, int *ret_status)
{
	struct fh_opt_list args = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	enum fh_help help;
	int r = fh_options_parse(c, argc, argv, false, &args, &help, &err);
	if (r == 0 && !help && args.count > 0)
		r = refuse_argument(c, argv[0], args.items[0], &err);
	fh_opt_list_release(&args);
	if (r == 0 && !help)
		return true;
	if (r == 0)
		fh_options_help(c, help);
	*ret_status = r < 0 ? fh_command_failed(&err, FH_EXIT_USAGE) : fh_print_end(FH_EXIT_OK, FH_EXIT_FAILED);
	return false;
}

/* --------------------------------------------------------------------------------------------------------- errors */

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

static void tell_wait(const char *path)
{
	fh_auto_buf struct fh_buf shown = FH_BUF_INIT(0);
	fh_escape_terminal(&shown, fh_str(path), false);
	fprintf(stderr, "fumehood: waiting for a program to write to %s, which is a FIFO\n", fh_buf_cstr(&shown));
}

void fh_command_tell_waits(void)
{
	fh_file_on_wait(tell_wait);
}

const char *fh_command_name(void)
{
	return called_as;
}

/* Whether "fumehood " at `at` begins a command, such as `fumehood ps`, and is no word of a sentence. */
static bool is_command(const char *text, const char *at)
{
	static const char *const names[] = {
		"run",    "eval",   "init",   "validate", "schema", "cache",   "list", "show",   "compare",
		"export", "import", "delete", "retry",    "judge",  "session", "view", "report", "serve",
		"mcp",    "ps",     "kill",   "engine",   "gc",     "doctor",  "env",  "with",   "help",
	};
	const char *word = at + strlen("fumehood ");
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");
	if (at != text && at[-1] == '`')
		return true;
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
