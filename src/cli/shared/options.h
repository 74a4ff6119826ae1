/* SPDX-License-Identifier: MIT */
/*
 * Command lines. Each command has one table of options, from which parsing, --help, the option list of the man page and
 * the shell completions are made.
 *
 * Accepted: --name VALUE, --name=VALUE, --name[=VALUE] for an option with FH_OPT_OPTIONAL, -x VALUE, -xVALUE, combined
 * flags (-ab), --no-name for a flag with FH_OPT_NEGATABLE, "--" to end options, "-" as an argument. For an unknown
 * option the error suggests the most similar name ("did you mean --cpu-time?"); every error is FH_E_ARGUMENT and names
 * the option.
 */
#pragma once
#include "base/error.h"

enum fh_opt_kind {
	FH_OPT_FLAG,     /* bool * */
	FH_OPT_STRING,   /* const char ** ; points into argv */
	FH_OPT_LIST,     /* struct fh_opt_list * ; may be given several times */
	FH_OPT_U64,      /* uint64_t * */
	FH_OPT_DOUBLE,   /* double * */
	FH_OPT_SIZE,     /* uint64_t *, bytes: 512M */
	FH_OPT_DURATION, /* uint64_t *, ms: 10, 0.5, 250ms */
};

enum {
	FH_OPT_NEGATABLE = 1 << 0,
	FH_OPT_HIDDEN = 1 << 1,
	FH_OPT_UNLIMITED = 1 << 2, /* for U64, SIZE and DURATION: accepts "unlimited", which gives UINT64_MAX */
	FH_OPT_OPTIONAL = 1 << 3,  /* for STRING: --name alone gives ""; a value has to be written --name=VALUE */
};

struct fh_opt_list {
	const char **items; /* freed by fh_opt_list_release; NULL-terminated when count > 0 */
	size_t count, capacity;
};
void fh_opt_list_release(struct fh_opt_list *l);

struct fh_opt {
	const char *name; /* name without dashes; NULL ends the table; "" with only a help text is a heading */
	char letter;      /* 0: no letter */
	enum fh_opt_kind kind;
	void *target;         /* unchanged unless the option is given */
	const char *argument; /* name of the value in the help, such as "SECONDS" */
	const char *help;     /* one sentence; names the default where it matters */
	unsigned flags;
	bool *given; /* set to true when the option is given; may be NULL */
};

struct fh_command_line {
	const char *program;  /* name of the command, such as "fumehood run" */
	const char *synopsis; /* arguments in short, such as "[OPTIONS] [-c CODE | FILE | -] [-- ARGS…]" */
	const char *about;    /* description of the command, one paragraph */
	const char *details;  /* after the options: examples, exit status; may be NULL */
	const struct fh_opt *options;
};

/* Parses argv[1..]. Arguments that are no options go to *ret_args (a list that points into argv; release it). With
 * `stop_at_first` parsing ends at the first of them (for `fumehood COMMAND …`). *ret_help is set when --help or -h was
 * given; then nothing else is checked. */
int fh_options_parse(const struct fh_command_line *c, int argc, char **argv, bool stop_at_first,
                     struct fh_opt_list *ret_args, bool *ret_help, struct fh_error *err);
/* Does all parsing for a command without arguments: handles --help, and refuses arguments. False: the command has to
 * return *ret_status. */
bool fh_options_alone(const struct fh_command_line *c, int argc, char **argv, int *ret_status);
/* Prints the help to stdout, wrapped to the terminal's width. */
void fh_options_help(const struct fh_command_line *c);

/* Sets the name by which the user called us (argv[0] of the program fumehood), for commands in hints; "fumehood" unless
 * it is called. A command that is a program of its own gets the name in FUMEHOOD_CALLED_AS, which
 * fh_command_inherit_name() reads and removes from the environment. */
void fh_command_called_as(const char *name);
void fh_command_inherit_name(void);
const char *fh_command_name(void);

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
