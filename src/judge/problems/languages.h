/* SPDX-License-Identifier: MIT */
/*
 * The facts that judging needs about a language: one const struct in src/judge/languages/NAME.c. docs/languages.md
 * explains how to add one.
 *
 * Programs of every language can be judged by their output. If a language has `split`, tests run separately from the
 * program (judge/split/split.h). If it has `in_process`, tests that cannot be split run in the program's process; the
 * struct says how program and test become one text, what the driver reads, and has a correct program that prints the
 * tool's version.
 */
#pragma once
#include "base/buf.h"
#include "judge/problems/problem.h"

struct fh_client;
struct fh_plan;
struct fh_split;
struct fh_split_language;

/* Program and test, as text for display or for a compiler. */
struct fh_judge_parts {
	const struct fh_judge_problem *problem;
	struct fh_str head, completion; /* head is empty if the completion is a complete program */
	unsigned turn;                  /* how many times the sample was judged before (fh_judge_hash_secret) */
};
struct fh_judge_parts fh_judge_parts_of(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample);
void fh_judge_add_program(struct fh_buf *out, const struct fh_judge_parts *p);
/* The program's text as it would be run, without the driver, for display. */
void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out);
/* Appends the complete program for judging by output. */
void fh_judge_parts_for_output(struct fh_buf *out, const struct fh_judge_parts *p);

/* The files to compile if program and test are not a single text: the main file, and further ones. */
enum { FH_JUDGE_UNIT_FILES_MAX = 7 };
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
/* The driver files of a language, as read. */
enum { FH_JUDGE_LIBRARIES_MAX = 3 };
struct fh_judge_drivers {
	struct fh_buf driver, libraries[FH_JUDGE_LIBRARIES_MAX];
};

struct fh_judge_in_process {
	const char *driver; /* a file of guest/NAME/ */
	/* Other files: put in front of the driver, or where `unit` uses them. NULL: none. */
	FH_NULLABLE const char *libraries[FH_JUDGE_LIBRARIES_MAX];
	FH_NULLABLE const char *driver_file; /* the driver's file name in the sandbox, if it matters */
	/* Makes program and test one text; NULL: one after the other (fh_judge_script). */
	void (*whole)(struct fh_buf *out, const struct fh_judge_parts *p);
	/* Writes what the driver reads; NULL: only the secret. */
	void (*input)(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret);
	bool compiled; /* the unit holds the whole text, including the program, behind the driver */
	/* Used instead of the above to make several files. -FH_E_UNAVAILABLE: this task cannot be judged in one process. */
	FH_NULLABLE int (*unit)(struct fh_judge_unit *u, const struct fh_judge_parts *p, const struct fh_judge_drivers *d,
	                        struct fh_error *err);
	/* Adds to the plan the files that are compiled together with the unit, and whatever is needed to compile and start
	 * it. Errors are not the program's. */
	FH_NULLABLE int (*beside)(struct fh_split *s, struct fh_client *client, const struct fh_judge_parts *p,
	                          struct fh_plan *plan, struct fh_error *err);
	FH_NULLABLE const char *mark;      /* text that marks lines of the compiler's output with an error; NULL: "error" */
	const char *const *flags;          /* options of the compiler or interpreter */
	const char *const *packages_flags; /* used instead of `flags` if packages are visible */
	const char *probe, *probe_test;    /* a program and a test that pass and print the version */
};
/* Appends program, newline, test. */
void fh_judge_script(struct fh_buf *out, const struct fh_judge_parts *p);

/* A call of the function under test, from a case of a data set; its parts are JSON text. */
struct fh_judge_call {
	struct fh_str args; /* items, without brackets */
	struct fh_str kwargs, expected;
};

/* How cases with arguments become a test: the helper's text, then `function(ENTRY, CALLS, TOLERANCE);` */
struct fh_judge_caller {
	const char *helper, *function; /* a file of guest/NAME/, and the function that it defines */
	/* Appends a call; number is 1 for the first. Errors name the case. */
	int (*call)(struct fh_buf *out, const struct fh_judge_call *c, size_t number, struct fh_error *err);
	bool as_string;           /* the calls are one JSON text in a string literal of the language */
	const char *open, *close; /* put around the calls */
};

/* For a language whose tests call a stand-in that is made from the declaration in the prompt. A reference that contains
 * `whole` (with the function's name for %s) is a complete program. */
struct fh_judge_declared {
	const char *whole;
	/* If a test can be judged in one process too, the prompt need not declare the function. A reference that is a
	 * complete program then contains this text. NULL: the prompt must declare it. */
	FH_NULLABLE const char *by_itself;
};

struct fh_judge_language_info {
	const char *name; /* as in languages/NAME.json and guest/NAME/ */
	/* A function body, and a complete program, that return nothing: they must fail every test. */
	struct {
		const char *body, *program;
	} stub;
	/* Complete programs that solve nothing, for the function's name as %s: each empties what it is given and returns
	 * something; the first of them nothing. Ends with NULL. */
	FH_NULLABLE const char *const *spoilers;
	/* A complete program that prints the tool's version, for problems judged by output. */
	const char *version;
	/* The compiler's option to print its version, if programs cannot; the language's `compile` must begin with
	 * {tool}. */
	FH_NULLABLE const char *version_argument;
	FH_NULLABLE const char *pack_prefix; /* prefix of HumanEvalPack's task ids: "Python/" */
	/* The name of the function that a declaration begins; empty: none. */
	FH_NULLABLE struct fh_str (*entry_point)(struct fh_str declaration);
	/* The class in which a declaration's function is; for `whole` of struct fh_judge_declared it stands for the
	 * function. NULL: functions are in no class. */
	FH_NULLABLE struct fh_str (*class_of)(struct fh_str declaration);
	/* The text of a complete program up to the { of its function `name`, which is what data sets call a declaration;
	 * empty: there is no such function. */
	FH_NULLABLE struct fh_str (*declaration_of)(struct fh_str program, struct fh_str name);
	/* Makes of a file for the language's own test runner a test as the drivers run it; leaves any other test as it is.
	 * -FH_E_CONFIG, with a hint: it needs something of the runner that is not there. */
	FH_NULLABLE int (*test_file)(struct fh_buf *test, struct fh_error *err);
	/* Words of tests that change or look at what belongs to the program's process and is no value of a call: streams,
	 * variables of the environment, files, what a mock replaces. They make may_share_process of a problem without a
	 * reference; where there is one, the self-check knows better. NULL ends the list. */
	FH_NULLABLE const char *const *shared;
	FH_NULLABLE const struct fh_judge_declared *declared;
	FH_NULLABLE const struct fh_judge_caller *caller;
	FH_NULLABLE const struct fh_judge_in_process *in_process;
	FH_NULLABLE const struct fh_split_language *split;
};
extern const struct fh_judge_language_info *const fh_judge_languages[FH_JUDGE_LANGUAGE_COUNT_];

#define FH_JUDGE_LANGUAGE(ENUMERATOR, name) extern const struct fh_judge_language_info fh_judge_language_##name;
#include "judge/problems/language_list.h"
#undef FH_JUDGE_LANGUAGE

/* The maximum bytes of a file in guest/NAME/, or of several that make one program. */
#define FH_JUDGE_GUEST_MAX (1 << 20)
/* The path of a file in guest/NAME/. */
int fh_judge_guest_path(enum fh_judge_language l, const char *file, char **ret, struct fh_error *err);

/* Whether tests that call functions can be judged in the language; otherwise only output can. */
bool fh_judge_has_tests(enum fh_judge_language l);
