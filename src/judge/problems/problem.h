/* SPDX-License-Identifier: MIT */
/*
 * Problems and samples, as read from data sets (formats/data_set.h).
 *
 * Problems of all data sets are converted to one form: `head`, which the completion continues, and `tail`, which
 * follows it. The tail is the test or, for a problem that is judged by its output, the part that reads input and calls
 * the function. A sample refers to its problem by `task_id` and has a completion. Both own their text and do not change
 * once read, so threads may share them.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

/* Maximum of head and tail together; leaves room for a completion in FH_JUDGE_PROGRAM_MAX. */
#define FH_JUDGE_PROBLEM_MAX ((size_t)8 << 20)

enum fh_judge_language {
#define FH_JUDGE_LANGUAGE(ENUMERATOR, name) FH_JUDGE_##ENUMERATOR,
#include "judge/problems/language_list.h"
#undef FH_JUDGE_LANGUAGE
	FH_JUDGE_LANGUAGE_COUNT_
};
const char *fh_judge_language_name(enum fh_judge_language l); /* "python", as in languages/python.json */
/* FH_JUDGE_LANGUAGE_COUNT_: no language has this name. */
enum fh_judge_language fh_judge_language_of_name(const char *name);

struct fh_judge_output; /* judge/problems/output.h */
struct fh_judge_truth;  /* judge/problems/truth.h */

struct fh_judge_problem {
	char *task_id;
	bool has_number; /* task_id was a number in the data, and is written as one in results */
	enum fh_judge_language language;
	struct fh_buf head, tail;
	/* declaration of the function, from the reference, if the head contains none; else empty */
	struct fh_buf declaration;
	char *entry_point;              /* the function that the test calls; "": the data does not name it */
	struct fh_buf reference;        /* the data set's own completion; empty: none */
	bool reference_is_whole;        /* whether the reference is a complete program, as is_whole of a sample */
	bool shares_process;            /* the test looks at what a program prints, say, so both are in one process */
	bool may_share_process;         /* perhaps it does: what fails apart from the test is judged so once more */
	bool head_is_shared;            /* the head is what program and test import, not what a completion continues */
	struct fh_judge_output *output; /* how the program's output is judged; NULL: the tail is a test */
	/* NULL: the test contains the expected values; otherwise the reference has to compute them */
	struct fh_judge_truth *truth;
	char *fault;        /* the reason why it cannot be judged, found after reading; NULL: it can */
	const char *format; /* constant: "human-eval", "HumanEvalPack" */
	uint32_t line;      /* in the file */
};

struct fh_judge_problems {
	struct fh_judge_problem *items; /* in the order of the file */
	size_t count, capacity;
	size_t *by_task; /* indexes of items, sorted by task_id */
};

struct fh_judge_sample {
	size_t problem; /* index in fh_judge_problems */
	char *completion;
	size_t size;
	bool is_whole; /* a complete program ("solution"), before which the head is not put */
};

struct fh_judge_samples {
	struct fh_judge_sample *items; /* the index in this array is the sample's `index` in results */
	size_t count, capacity;
};

void fh_judge_problem_release(struct fh_judge_problem *p);
void fh_judge_problems_release(struct fh_judge_problems *p);
/* NULL if there is no such task. */
const struct fh_judge_problem *fh_judge_problem_find(const struct fh_judge_problems *p, const char *task_id);
/* The text that declares the function: the head, or else the declaration from the reference; may be empty. */
struct fh_str fh_judge_problem_declaration(const struct fh_judge_problem *p);
/* The reference as a sample, with borrowed text. size 0: there is none. */
struct fh_judge_sample fh_judge_problem_reference(const struct fh_judge_problem *p);

/* Sets an error in a row with a hint how to fix it; returns -FH_E_CONFIG. */
int fh_judge_wrong(struct fh_error *err, const char *hint, const char *format, ...) FH_PRINTF(3, 4);
/* Whether s may be inserted into program texts as a function's name: only letters, digits, _ and bytes above 127. */
bool fh_judge_is_name(struct fh_str s);
/* Whether the test's text mentions a source of randomness. It may do so and use none. */
bool fh_judge_problem_draws(const struct fh_judge_problem *p);

void fh_judge_samples_release(struct fh_judge_samples *s);

#define fh_auto_problems FH_CLEANUP(fh_judge_problems_release)
#define fh_auto_samples FH_CLEANUP(fh_judge_samples_release)
