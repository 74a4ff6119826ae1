/* SPDX-License-Identifier: MIT */
/*
 * Command lines. Each command has one static table of options. Parsing, --help, the defaults, the man page, the shell
 * completions and the descriptions in `fumehood schema` all come from it: an option's name, argument, default and
 * bounds are written in its row and nowhere else. Man page and completions are made from what --help=json prints.
 *
 * Accepted: --name VALUE, --name=VALUE, --name[=VALUE] for an option with FH_OPT_OPTIONAL, -x VALUE, -xVALUE, combined
 * flags (-ab), -x VALUE VALUE for one with FH_OPT_VARIADIC, --no-name for a flag with FH_OPT_NEGATABLE, "--" to end
 * options, "-" as an argument. For an unknown option the error suggests the most similar name ("did you mean
 * --cpu-time?"); every error is FH_E_ARGUMENT and names the option. The caller answers --help with fh_options_help().
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

enum fh_opt_kind {
	FH_OPT_FLAG,     /* bool * */
	FH_OPT_STRING,   /* const char ** ; points into argv, or at default_text */
	FH_OPT_LIST,     /* struct fh_opt_list * ; may be given several times */
	FH_OPT_U64,      /* uint64_t * */
	FH_OPT_DOUBLE,   /* double * */
	FH_OPT_SIZE,     /* uint64_t *, bytes: 512M */
	FH_OPT_DURATION, /* uint64_t *, ms: 10, 0.5, 250ms */
	FH_OPT_MILLI,    /* uint64_t *, thousandths: 2, 0.5 */
	FH_OPT_KIND_COUNT_
};

enum {
	FH_OPT_NEGATABLE = 1 << 0,
	FH_OPT_HIDDEN = 1 << 1,    /* accepted, but not shown to users */
	FH_OPT_UNLIMITED = 1 << 2, /* for U64, MILLI, SIZE and DURATION: accepts "unlimited", which gives UINT64_MAX */
	FH_OPT_OPTIONAL = 1 << 3,  /* for STRING: --name alone gives ""; a value has to be written --name=VALUE */
	FH_OPT_ON = 1 << 4,        /* for a flag: true unless --no-name is given; needs FH_OPT_NEGATABLE */
	FH_OPT_VARIADIC = 1 << 5,  /* for LIST: takes all words up to the next option: -c a b */
	FH_OPT_WRITES = 1 << 6,    /* for STRING and LIST: a file or folder that is written, so that "-" is refused */
};

struct fh_opt_list {
	const char **items; /* freed by fh_opt_list_release; NULL-terminated when count > 0 */
	size_t count, capacity;
};
void fh_opt_list_release(struct fh_opt_list *l);

/* One row. `help` says what the option does; help texts append that a list may be repeated, and the default. A row has
 * at most one of the three defaults; without one the target keeps its value. */
struct fh_opt {
	const char *name; /* name without dashes; NULL ends the table; "" with only a help text is a heading */
	char letter;      /* 0: no letter */
	enum fh_opt_kind kind;
	void *target;         /* a static object of the kind's type */
	const char *argument; /* name of the value in the help, such as "SECONDS" */
	const char *help;
	unsigned flags;
	bool *given; /* set to true when the option is given; may be NULL */
	/* For a command whose first argument is an action: the actions that the option is for, separated by spaces. Given
	 * to another action of the synopsis it is an error, and not passed over. NULL: it is for all. */
	const char *actions;

	const char *default_text;       /* as a user would type it: "25", "1h", "127.0.0.1" */
	const uint64_t *default_number; /* in the target's unit; for a number that another part of fumehood defines */
	const char *default_words;      /* where the default is no value: "the number of processors" */

	uint64_t least, most; /* bounds of U64, SIZE, DURATION and MILLI, in the target's unit; most 0: no upper bound */
};

/* A constant for default_number: FH_OPT_NUMBER(FH_SCRIPT_TIMEOUT_MS). */
#define FH_OPT_NUMBER(n) (&(const uint64_t){ n })

struct fh_command_line {
	const char *program;  /* name of the command, such as "fumehood run" */
	const char *synopsis; /* arguments in short, such as "[OPTIONS] [-c CODE | FILE | -] [-- ARGS…]" */
	const char *about;    /* description of the command, one paragraph */
	const char *details;  /* after the options: examples, exit status; may be NULL */
	const struct fh_opt *options;
	/* For a program with commands, else NULL: gives name and sentence of command `i`; false when there are no more. */
	bool (*command)(size_t i, const char **ret_name, const char **ret_about);
};

/* Whether help was asked for, and in which form: FH_HELP_TEXT for --help and -h, FH_HELP_JSON for --help=json. */
enum fh_help { FH_HELP_NONE, FH_HELP_TEXT, FH_HELP_JSON };

/* Stores every default in its target, then parses argv[1..]. Arguments that are no options go to *ret_args (a list that
 * points into argv; release it). With `stop_at_first` parsing ends at the first of them (for `fumehood COMMAND …`).
 * When help was asked for, *ret_help says in which form; then nothing that follows is checked. */
int fh_options_parse(const struct fh_command_line *c, int argc, char **argv, bool stop_at_first,
                     struct fh_opt_list *ret_args, enum fh_help *ret_help, struct fh_error *err);
/* Does all parsing for a command without arguments: handles --help, and refuses arguments. False: the command has to
 * return *ret_status. */
bool fh_options_alone(const struct fh_command_line *c, int argc, char **argv, int *ret_status);
/* Prints the help to stdout: text that is wrapped to the terminal's width, or one JSON object with a row for each
 * option, including hidden ones. The row's `value` is what the target holds now. */
void fh_options_help(const struct fh_command_line *c, enum fh_help form);

/* Appends the row's sentence of help texts: its `help`, whether it may be repeated, its default. */
void fh_option_sentence(const struct fh_opt *o, struct fh_buf *out);

/* Sets the name by which the user called us (argv[0] of the program fumehood), for commands in hints; "fumehood" unless
 * it is called. A command that is a program of its own gets the name in FUMEHOOD_CALLED_AS, which
 * fh_command_inherit_name() reads and removes from the environment. */
void fh_command_called_as(const char *name);
void fh_command_inherit_name(void);
const char *fh_command_name(void);

/* From now on a command that waits for somebody to write to a FIFO says so on stderr. */
void fh_command_tell_waits(void);

/* The error for a command that was not given one of its actions ("start, stop and status"), or more than the action.
 * args: what was given. */
int fh_action_refused(struct fh_error *err, const char *command, const char *actions, const struct fh_opt_list *args);

/* Prints an error in the common form ("fumehood: …" and the hint, on stderr; in a hint `fumehood NAME` begins with the
 * name by which the user called us) and returns `status`. */
int fh_command_failed(const struct fh_error *err, int status);

/* Exit statuses that all commands share; a command's --help lists its own. */
enum {
	FH_EXIT_OK = 0,
	FH_EXIT_FAILED = 1, /* the work could not be done: bad input, engine error */
	FH_EXIT_USAGE = 2,  /* the command line is wrong */
	FH_EXIT_INTERRUPTED = 130,
};
