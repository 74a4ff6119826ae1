/* SPDX-License-Identifier: MIT */
/*
 * Everything on which a verdict depends, in one struct, and its key: a result may be reused if and only if the keys are
 * equal.
 *
 * The key is computed from tables with a row for each member of the structs (fh_input_tables). A unit test fails if a
 * member has no row, and changes each member in turn to check that the key changes. So a new member of a problem is
 * either in the key, or listed in its table as irrelevant to verdicts.
 */
#pragma once
#include "base/text/sha256.h"
#include "fumehood/sandbox.h"
#include "judge/problems/problem.h"

struct fh_judge_inputs {
	const struct fh_judge_problem *problem;
	const struct fh_judge_sample *sample;
	struct fh_limits limits; /* the limits for this problem */
	const char *mode;        /* the mode in which the problem is judged */
	FH_NULLABLE const char *interpreter, *seed;
	FH_NULLABLE const char *const *flags; /* options of the interpreter or compiler */
	unsigned repeat;                      /* 0 and 1 mean the same */
	bool packages;
	/* Versions of the judging side: of fumehood, digests of the drivers' texts and of the language's data file, and the
	 * tools' own version texts. NULL: not applicable. */
	const char *version;
	FH_NULLABLE const char *driver, *split_drivers, *language_data, *tool, *checker_tool;
};

void fh_judge_inputs_key(const struct fh_judge_inputs *in, char ret_hex[FH_SHA256_HEX]);

/* ---- the tables, for the test ---- */

enum fh_input_kind {
	FH_INPUT_TEXT,    /* const char *, or NULL, which differs from "" */
	FH_INPUT_BUF,     /* struct fh_buf */
	FH_INPUT_BOOL,    /* bool */
	FH_INPUT_NUMBER,  /* an enum, or unsigned */
	FH_INPUT_REPEAT,  /* unsigned, of which 0 and 1 mean the same */
	FH_INPUT_LIST,    /* const char *const *, ends with NULL; or NULL */
	FH_INPUT_LIMITS,  /* struct fh_limits */
	FH_INPUT_OUTPUT,  /* struct fh_judge_output *, or NULL */
	FH_INPUT_TRUTH,   /* struct fh_judge_truth *, or NULL */
	FH_INPUT_PROBLEM, /* const struct fh_judge_problem * */
	FH_INPUT_SAMPLE,  /* const struct fh_judge_sample * */
	FH_INPUT_BYTES,   /* char *, directly followed by the size_t of its length */
	FH_INPUT_NONE,    /* irrelevant to verdicts */
};
struct fh_input_field {
	const char *name; /* the name of the member; NULL ends a table */
	size_t offset, size;
	enum fh_input_kind kind;
};
extern const struct fh_input_table {
	const char *name;
	const struct fh_input_field *fields; /* one for each member, in the order of the struct */
	size_t size;                         /* size of the struct that the table describes */
} fh_input_tables[];
enum fh_input_struct { FH_INPUT_OF_JUDGEMENT, FH_INPUT_OF_PROBLEM, FH_INPUT_OF_SAMPLE, FH_INPUT_STRUCT_COUNT_ };
