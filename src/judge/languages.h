/* SPDX-License-Identifier: MIT */
/*
 * What judging needs to know of a language where program and test run in one process: how the two become one text, what
 * the driver reads, and a program that is right and prints the version of the tool.
 */
#pragma once
#include "base/buf.h"
#include "judge/problem.h"
#include "judge/session.h"

struct fh_client;
struct fh_plan;
struct fh_split;

/* Program and test as text for a person or a compiler. */
struct fh_judge_parts {
	const struct fh_judge_problem *problem;
	struct fh_str head, completion; /* head is empty before a completion that is a program by itself */
};
struct fh_judge_parts fh_judge_parts_of(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample);
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
/* The data files of a language, as they are read. */
struct fh_judge_drivers {
	struct fh_buf driver, library;
};

struct fh_judge_language_info {
	const char *name;
	const char *driver;                  /* a data file; NULL: tests of it are split only */
	FH_NULLABLE const char *library;     /* another, in front of it, or where `unit` has it */
	FH_NULLABLE const char *driver_file; /* its name in the sandbox, where that matters */
	void (*whole)(struct fh_buf *out, const struct fh_judge_parts *p); /* program and test as one text */
	void (*input)(struct fh_buf *in, const struct fh_judge_parts *p, const char *secret); /* what the driver reads */
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
	/* The same where it is split: the function, the program and the test. NULL: `probe` does for both */
	const char *split_probe_name, *split_probe, *split_probe_test;
	const char *version; /* a program by itself that prints the version: for problems judged by output */
};
extern const struct fh_judge_language_info fh_judge_languages[FH_JUDGE_LANGUAGE_COUNT_];
