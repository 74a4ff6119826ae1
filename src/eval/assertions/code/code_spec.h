/* SPDX-License-Identifier: MIT */
/*
 * What a `code` assertion asks for, read from its fields.
 *
 * The fields stand beside `type`, or in a mapping under `value`:
 *
 *     language         python (default), javascript, bash, c, cpp, java, go, rust, or an alias
 *     function         the function (or "Class.method") that the program has to define; its block is chosen by it
 *     call             an expression of the language, evaluated in the program: "factorial(5)"
 *     expected         the call's value: any JSON value, compared by type and value (judge/comparing/value.h)
 *     expected_output  or: the text that printing the value gives
 *     expected_error   or: the name of the exception that the call raises ("ValueError")
 *     cases            or: a list of these, each {call | args [, kwargs], expected | expected_output | expected_error},
 *                      or [argument, …, expected]; args are given to `function`; or each {stdin, stdout}
 *     tests            or: a test in the language, a text or a list of lines, that calls `function`; it is judged
 *                      apart from the program (code_tests.h)
 *     declaration      with `tests`: the function's head up to and including its {, for cpp, java, go and rust
 *     canonical_solution  with `tests`: a correct program
 *     setup            with `tests`: text that is put before both program and test
 *     stdin, stdout    or: the program runs as a whole and has to print stdout (languages other than python and
 *                      javascript have this form and `tests` only)
 *     tolerance        how far a number may be off, absolute or relative (0)
 *     limits           {cpu_time, wall_time: seconds; memory, output, disk, file_size: bytes or "64M"; processes …}
 *     packages         true: the interpreter's installed packages are visible; false: its standard library only
 *
 * Strings are templates over the test's variables; a string that is a single {{variable}} becomes that variable's
 * value, of whatever type.
 */
#pragma once
#include "eval/grading/assertion.h"
#include "fumehood/sandbox.h"

#define FH_CODE_CASES_MAX 10000

/* One call or run, and what is expected of it. Values are borrowed from the spec's fields. */
struct fh_code_case {
	FH_NULLABLE const char *call;     /* an expression; NULL: `function` is called with `args` */
	FH_NULLABLE const json_t *args;   /* positional arguments, an array */
	FH_NULLABLE const json_t *kwargs; /* keyword arguments, an object */
	FH_NULLABLE const json_t *expected;
	FH_NULLABLE const char *expected_output, *expected_error;
	struct fh_str input, output; /* stdin, and expected stdout (output.p NULL: any passes) of a whole program */
};

struct fh_code_spec {
	json_t *fields; /* templates rendered; owns what the members below borrow */
	json_t *owned;  /* lists that were made while reading; freed with the spec */
	const char *language;
	FH_NULLABLE const char *function;
	bool tests; /* the fields hold `tests` */
	bool whole; /* the program runs as a whole, fed with input */
	bool packages;
	double tolerance;
	struct fh_limits limits;
	struct fh_code_case *cases;
	size_t n;
	/* Set by the `sandbox` assertion alone; borrowed from the spec's fields. */
	FH_NULLABLE const char *behind;    /* lines appended to a program that runs as a whole */
	bool proof;                        /* a program that runs as a whole has to come to its end: code_proof.h */
	FH_NULLABLE const char *reference; /* a correct program that the tests accept; the task does not show it */
	FH_NULLABLE const char *image; /* directory that holds the root file system for a program that runs as a whole */
};

/* Reads the fields; `vars` fills the templates. FH_E_CONFIG names the field. */
int fh_code_spec_read(const struct fh_assertion_call *call, struct fh_code_spec *ret, struct fh_error *err);
/* Reads fields whose templates are rendered already; takes over the reference. */
int fh_code_spec_of_fields(FH_OWN json_t *fields, struct fh_code_spec *ret, struct fh_error *err);
/* The mapping that holds an assertion's fields: its `value`, or the assertion itself. */
const json_t *fh_code_fields(const json_t *assertion);
/* Sets an error about the fields of an assertion of this name; returns -FH_E_CONFIG. */
int fh_code_wrong(struct fh_error *err, const char *assertion, const char *format, ...) FH_PRINTF(3, 4);
/* The language that a word means for the assertion of this name. NULL: none, with an error that names the nearest. */
FH_NULLABLE const char *fh_code_language_of_word(const char *word, const char *assertion, struct fh_error *err);
/* The same for the field `language`, if it is there and no template; 0 or -FH_E_CONFIG. */
int fh_code_language_check(const json_t *fields, const char *assertion, struct fh_error *err);
/* Whether every assertion may have this key. */
bool fh_code_is_common_key(const char *key);
/* Fills the templates of all strings in `from`. */
int fh_code_fields_render(const json_t *from, const json_t *vars, FH_OWN json_t **ret, struct fh_error *err);
void fh_code_spec_release(struct fh_code_spec *spec);
#define fh_auto_code_spec FH_CLEANUP(fh_code_spec_release)

/* Finds mistakes that show before templates are rendered: unknown fields, and fields that exclude each other. */
int fh_code_spec_validate(const json_t *assertion, struct fh_error *err);
