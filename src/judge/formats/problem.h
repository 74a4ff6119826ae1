/* SPDX-License-Identifier: MIT */
/*
 * What is judged: problems and samples, as data sets hold them.
 *
 * A problem is kept in the one shape that every data set is brought to: `head`, which the completion continues, and
 * `tail`, which follows it: the test, or for a problem that is judged by what programs print (`output`) the part that
 * reads input and calls the function. A sample names its problem by `task_id` and holds a completion. Both own their
 * text and are unchanged once read, so that threads may share them.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* Head and tail together; leaves room for a completion in FH_JUDGE_PROGRAM_MAX. */
#define FH_JUDGE_PROBLEM_MAX ((size_t)8 << 20)

enum fh_judge_language {
#define FH_JUDGE_LANGUAGE(ENUMERATOR, name) FH_JUDGE_##ENUMERATOR,
#include "judge/languages/list.h"
#undef FH_JUDGE_LANGUAGE
	FH_JUDGE_LANGUAGE_COUNT_
};

struct fh_judge_output; /* judge/comparing/output.h */
struct fh_judge_truth;  /* judge/comparing/truth.h */

struct fh_judge_problem {
	char *task_id;
	bool has_number; /* task_id was a number in the data, and is one in results */
	enum fh_judge_language language;
	struct fh_buf head, tail;
	struct fh_buf declaration; /* of the function, as its reference has it, where the head declares none; or empty */
	char *entry_point;         /* the function that the test calls; "" when the data does not say */
	struct fh_buf reference;   /* the data set's own completion; empty: it has none */
	bool reference_is_whole;   /* as a sample's is_whole */
	struct fh_judge_output *output; /* NULL: the tail is a test */
	struct fh_judge_truth *truth;   /* NULL: the test knows what it expects; else the reference has to give it */
	char *fault;                    /* why it cannot be judged, found after it was read; NULL: it can */
	const char *format;             /* static: "human-eval", "HumanEvalPack" */
	uint32_t line;                  /* in its file */
};

struct fh_judge_problems {
	struct fh_judge_problem *items; /* in the order of their file */
	size_t count, capacity;
	size_t *by_task; /* positions, sorted by task_id */
};

struct fh_judge_sample {
	size_t problem; /* position in fh_judge_problems */
	char *completion;
	size_t size;
	bool is_whole; /* a program by itself ("solution"): the head is not put in front */
};

struct fh_judge_samples {
	struct fh_judge_sample *items; /* an item's position is its `index` */
	size_t count, capacity;
};

/* Reads every line before anything runs; the first bad one is an error with file and line. */
int fh_judge_problems_read(const char *path, struct fh_judge_problems *ret, struct fh_error *err);
void fh_judge_problem_release(struct fh_judge_problem *p);
void fh_judge_problems_release(struct fh_judge_problems *p);
/* NULL when there is none. */
const struct fh_judge_problem *fh_judge_problem_find(const struct fh_judge_problems *p, const char *task_id);
/* What declares the function, as far as anything does: the head, or what its reference tells. */
struct fh_str fh_judge_problem_declaration(const struct fh_judge_problem *p);
/* The reference as a sample; its text is borrowed. size 0: there is none. */
struct fh_judge_sample fh_judge_problem_reference(const struct fh_judge_problem *p);

int fh_judge_samples_read(const char *path, const struct fh_judge_problems *problems, struct fh_judge_samples *ret,
                          struct fh_error *err);
void fh_judge_samples_release(struct fh_judge_samples *s);

#define fh_auto_problems FH_CLEANUP(fh_judge_problems_release)
#define fh_auto_samples FH_CLEANUP(fh_judge_samples_release)
