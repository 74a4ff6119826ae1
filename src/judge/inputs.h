/* SPDX-License-Identifier: MIT */
/*
 * Everything that a verdict depends on, as one value, and the key that is made of it: a result may be used again
 * exactly where the key is the same.
 *
 * The key is made from tables that have a row for each member of the structs that go in (fh_input_tables). A unit test
 * fails when a member of one of these structs stands in no row, and changes each member in turn to see that the key
 * does. So what is added to a problem is in the key, or is named in its table as something on which no verdict depends.
 */
#pragma once
#include "base/sha256.h"
#include "judge/formats/problem.h"
#include "judge/session.h"

struct fh_judge_inputs {
	const struct fh_judge_problem *problem;
	const struct fh_judge_sample *sample;
	struct fh_limits limits; /* as they are for this problem */
	const char *mode;        /* how the problem is judged */
	FH_NULLABLE const char *interpreter, *seed;
	FH_NULLABLE const char *const *flags; /* of the interpreter or compiler */
	unsigned repeat;                      /* 0 and 1 are the same */
	bool packages;
	/* What judges: our version, digests of the drivers' texts and of the language's data file, and what the tools said
	 * of themselves. NULL: there is none. */
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
	FH_INPUT_REPEAT,  /* unsigned, of which 0 and 1 are the same */
	FH_INPUT_LIST,    /* const char *const *, ends with NULL; or NULL */
	FH_INPUT_LIMITS,  /* struct fh_limits */
	FH_INPUT_OUTPUT,  /* struct fh_judge_output *, or NULL */
	FH_INPUT_TRUTH,   /* struct fh_judge_truth *, or NULL */
	FH_INPUT_PROBLEM, /* const struct fh_judge_problem * */
	FH_INPUT_SAMPLE,  /* const struct fh_judge_sample * */
	FH_INPUT_BYTES,   /* char * and, right behind it, the size_t of its length */
	FH_INPUT_NONE,    /* no verdict depends on it */
};
struct fh_input_field {
	const char *name; /* NULL ends a table */
	size_t offset, size;
	enum fh_input_kind kind;
};
extern const struct fh_input_table {
	const char *name;
	const struct fh_input_field *fields; /* in the order of the struct */
	size_t size;                         /* of the struct */
} fh_input_tables[];
enum fh_input_struct { FH_INPUT_OF_JUDGEMENT, FH_INPUT_OF_PROBLEM, FH_INPUT_OF_SAMPLE, FH_INPUT_STRUCT_COUNT_ };
