/* SPDX-License-Identifier: MIT */
/*
 * What the assertions `code` and `sandbox` know about languages: one row for each, in code_language.c; of those whose
 * functions they call, the rest is in code_python.c and code_javascript.c.
 */
#pragma once
#include "base/buf.h"

enum { FH_CODE_IMAGES_MAX = 3, FH_CODE_FILES_MAX = 3 };

/* How functions of a language are called. Lists of words end with NULL. */
struct fh_code_calling {
	/* For calls in the program's process: the driver's files, in order, and the name of the program's file. */
	const char *driver[FH_CODE_FILES_MAX], *solution;

	/* For calls that are judged apart from the program (code_apart.h): files of guest/NAME/ that define `compared`. */
	const char *compared[FH_CODE_FILES_MAX];
	void (*add_json)(struct fh_buf *out, struct fh_str json); /* appends an expression that gives the JSON value */
	const char *const *literals;                              /* words that stand for a value: None */
	const char *const *prefixes;                              /* words in front of a quote: b'…' */
	/* Functions, types and operators of the language that do the same with a value that came from another sandbox. A
	 * word with a dot at its end may have any member. */
	const char *const *words;
	const char *const *members; /* members that a value keeps when it comes from another sandbox */
	const char *const *others;  /* further functions of the language, for which the program's process is needed */
	bool has_keywords;          /* a call may name its parameters: f(n=5) */

	/* For the `sandbox` assertion: the file of guest/NAME/ that compares with a canonical solution, and the function
	 * that it defines. */
	const char *same_as, *same_as_function, *yes, *no;
	void (*add_string)(struct fh_buf *out, struct fh_str text);
	struct fh_str (*last_function)(struct fh_str source); /* the name of the last function of a text; empty: none */
};
extern const struct fh_code_calling fh_code_calling_python, fh_code_calling_javascript;

struct fh_code_language {
	const char *name;                                               /* as in languages/NAME.json */
	FH_NULLABLE const char *images[FH_CODE_IMAGES_MAX];             /* container images of the language */
	FH_NULLABLE const char *proof_begin, *proof_middle, *proof_end; /* the line of code_proof.h; NULL: none is known */
	FH_NULLABLE const char *proof_between;             /* code_proof.h; NULL: nothing is needed between two calls */
	FH_NULLABLE const char *checks_hold;               /* code_proof.h; NULL: a program cannot change what fails */
	FH_NULLABLE const char *start_tag, *end_tag;       /* what is not between these is text; NULL: there are no tags */
	FH_NULLABLE const struct fh_code_calling *calling; /* NULL: its functions are called by `tests` only */
};

/* NULL: the assertions know nothing about the language, and run programs of it as a whole. */
FH_NULLABLE const struct fh_code_language *fh_code_language_find(const char *name);
/* NULL: its functions cannot be called. */
FH_NULLABLE const struct fh_code_calling *fh_code_calling_find(const char *name);
/* The language of a container image, by the image's name without registry and tag. NULL: none is known. */
FH_NULLABLE const char *fh_code_language_of_image(struct fh_str image);
