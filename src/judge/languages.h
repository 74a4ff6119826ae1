/* SPDX-License-Identifier: MIT */
/*
 * What judging needs to know of a language: one const struct, in src/judge/languages/NAME.c. docs/languages.md says how
 * one is added.
 *
 * Programs of every language here can be judged by what they print. Where it has `split`, tests run apart from the
 * program (judge/split.h); where it has `in_process`, tests that cannot be split run in the program's process: how the
 * two become one text, what the driver reads, and a program that is right and prints the version of the tool.
 */
#pragma once
#include "base/buf.h"
#include "judge/formats/problem.h"
#include "judge/session.h"

struct fh_client;
struct fh_plan;
struct fh_split;
struct fh_split_language;

/* Program and test as text for a person or a compiler. */
struct fh_judge_parts {
	const struct fh_judge_problem *problem;
	struct fh_str head, completion; /* head is empty before a completion that is a program by itself */
	unsigned turn;                  /* which time, from 0, the sample is judged (fh_judge_hash_secret) */
};
struct fh_judge_parts fh_judge_parts_of(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample);
void fh_judge_add_program(struct fh_buf *out, const struct fh_judge_parts *p);
/* The whole program of one that is judged by its output. */
void fh_judge_parts_for_output(struct fh_buf *out, const struct fh_judge_parts *p);

/* What a compiler gets where program and test are no one text: its file's, and files beside it. */
enum { FH_JUDGE_UNIT_FILES_MAX = 6 };
struct fh_judge_unit {
	struct fh_buf code;
	struct {
		const char *name;
		struct fh_buf text;
	} files[FH_JUDGE_UNIT_FILES_MAX];
	size_t count;
};
void fh_judge_unit_release(struct fh_judge_unit *u);
void fh_judge_unit_add_file(struct fh_judge_unit *u, const char *name, struct fh_str text);
/* The data files of a language, as they are read. */
struct fh_judge_drivers {
	struct fh_buf driver, library;
};

struct fh_judge_in_process {
	const char *driver;                  /* a file of guest/NAME/ */
	FH_NULLABLE const char *library;     /* another, in front of it, or where `unit` has it */
	FH_NULLABLE const char *driver_file; /* its name in the sandbox, where that matters */
	/* Program and test as one text; NULL: one after the other (fh_judge_script). */
	void (*whole)(struct fh_buf *out, const struct fh_judge_parts *p);
	/* What the driver reads; NULL: the secret alone. */
	void (*input)(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret);
	bool compiled; /* the whole text stands in the unit, behind the driver */
	/* Instead of these as one text. -FH_E_UNAVAILABLE: this task cannot be judged so. */
	FH_NULLABLE int (*unit)(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
	                        struct fh_error *err);
	/* Adds to the plan what is compiled beside the unit, and what else it takes to compile and start it. Errors are
	 * about us. */
	FH_NULLABLE int (*beside)(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
	                          struct fh_plan *plan, struct fh_error *err);
	FH_NULLABLE const char *mark;      /* in a line of the compiler's that tells an error; NULL: "error" */
	const char *const *flags;          /* of the compiler or interpreter */
	const char *const *packages_flags; /* the same where packages are visible */
	const char *probe, *probe_test;    /* passes, and prints the version */
};
/* Program, newline, test. */
void fh_judge_script(struct fh_buf *out, const struct fh_judge_parts *p);

/* A call of the function under test, of a case in a data set: its parts as JSON text. */
struct fh_judge_call {
	struct fh_str args; /* items, without brackets */
	struct fh_str kwargs, expected;
};

/* How cases with arguments become a test: the helper's text, then `function(ENTRY, CALLS, TOLERANCE);` */
struct fh_judge_caller {
	const char *helper, *function; /* a file of guest/NAME/, and what it defines */
	/* Appends one call; number is 1 for the first. Errors name the case. */
	int (*call)(struct fh_buf *out, const struct fh_judge_call *c, size_t number, struct fh_error *err);
	bool as_string;           /* the calls as one JSON text in a string literal of the language */
	const char *open, *close; /* around the calls */
};

/* Of a language whose tests call a stand-in that is made of what the prompt declares. A reference that holds `whole`
 * (the name in place of %s) is a program by itself. */
struct fh_judge_declared {
	const char *whole;
	/* Where a test can be judged in one process, too, the prompt may declare anything else, or nothing: what a
	 * reference that is a program by itself holds then. NULL: it may not. */
	FH_NULLABLE const char *by_itself;
};

struct fh_judge_language_info {
	const char *name; /* languages/NAME.json and guest/NAME/ */
	/* A body, and a whole program, that answer nothing: what has to fail every test. */
	struct {
		const char *body, *program;
	} stub;
	/* A program by itself that prints the version: for problems judged by output. */
	const char *version;
	/* The argument with which the compiler tells its version, where no program can; its `compile` begins with {tool}.
	 */
	FH_NULLABLE const char *version_argument;
	FH_NULLABLE const char *pack_prefix; /* of HumanEvalPack's task ids: "Python/" */
	/* The name of the function that a declaration opens; empty: none. */
	FH_NULLABLE struct fh_str (*entry_point)(struct fh_str declaration);
	FH_NULLABLE const struct fh_judge_declared *declared;
	FH_NULLABLE const struct fh_judge_caller *caller;
	FH_NULLABLE const struct fh_judge_in_process *in_process;
	FH_NULLABLE const struct fh_split_language *split;
};
extern const struct fh_judge_language_info *const fh_judge_languages[FH_JUDGE_LANGUAGE_COUNT_];

#define FH_JUDGE_LANGUAGE(ENUMERATOR, name) extern const struct fh_judge_language_info fh_judge_language_##name;
#include "judge/languages/list.h"
#undef FH_JUDGE_LANGUAGE

/* Where a file of guest/NAME/ lies. */
int fh_judge_guest_path(enum fh_judge_language l, const char *file, char **ret, struct fh_error *err);

/* Whether tests that call functions can be judged in it; else only what programs print. */
bool fh_judge_has_tests(enum fh_judge_language l);
