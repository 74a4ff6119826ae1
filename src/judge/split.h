/* SPDX-License-Identifier: MIT */
/*
 * Split judging: the test runs in one sandbox, the candidate in another, and nothing joins them but two pipes.
 *
 *     judge's process      fd 3 reads from the candidate, fd 4 writes to it, fd 5 is the driver stream (struct
 * fh_split_message) candidate's process  fd 3 reads from the judge, fd 4 writes to it
 *
 * What the test expects is in the judge's process alone; the candidate's program is in the candidate's alone; what
 * crosses are calls and values, in a codec of the language's drivers (guest/NAME/split_*) that executes nothing. A
 * sample passes only when the judge's process ended with status 0, by the kernel's word, after its driver stream said
 * "passed" and how many calls crossed, at least one.
 *
 * A language has its part of this in the file of its row (languages/python.c). Plans are made once for each
 * language and side, so that sandboxes can be made ahead of time; what differs from sample to sample is the input and,
 * where a language compiles, files.
 */
#pragma once
#include "judge/build.h"
#include "judge/comparing/verdict.h"
#include "judge/formats/problem.h"

struct fh_judge_settings;
struct fh_split; /* what a session keeps for split judging */

/* One side of a pair as it is to run. */
struct fh_split_side {
	FH_NULLABLE const struct fh_plan *plan; /* borrowed from the fh_split */
	struct fh_buf input;                    /* its stdin */
	struct fh_file files[4];                /* beside the plan's; contents are borrowed or `owned` */
	size_t file_count;
	FH_OWN FH_NULLABLE void *owned;
	FH_OWN FH_NULLABLE char *compile_error; /* the candidate's program does not compile: why. Nothing runs */
	FH_OWN FH_NULLABLE char *unfit;         /* the judge's side cannot be made of this task: why. Nothing runs */
};
void fh_split_side_release(struct fh_split_side *s);

/* What a pair is made for. */
struct fh_split_pair {
	const struct fh_judge_problem *problem;
	struct fh_str head, completion; /* the candidate's program is both in this order */
	bool changes;                   /* changes of arguments come back, where the reference needs it */
	bool wait;                      /* for the zygotes, where there can be any: the pairs that follow find them */
	FH_NULLABLE const struct fh_limits *limits; /* instead of the settings' */
	unsigned turn;                              /* which time, from 0, the sample is judged (fh_judge_hash_secret) */
	FH_NULLABLE const char *seed;               /* FH_SEED_DIGITS digits, of chance on the judge's side. NULL: zeros */
};

#define FH_SPLIT_MODULES "/opt/fumehood/split"
enum { FH_SPLIT_DRIVERS_MAX = 6 };

struct fh_split_language {
	/* Files of guest/NAME/ that make up the drivers, in order; NULL ends a list. */
	const char *judge[FH_SPLIT_DRIVERS_MAX], *candidate[FH_SPLIT_DRIVERS_MAX];
	/* And those that neither side has as a whole. */
	const char *others[FH_SPLIT_DRIVERS_MAX];
	/* NULL: the files together are the program. Else they are modules below FH_SPLIT_MODULES, of which a zygote imports
	 * the last, and so those that it imports, ahead of the pair; the program is this. */
	FH_NULLABLE const char *judge_main, *candidate_main;
	FH_NULLABLE const char *const *flags;   /* of the interpreter */
	FH_NULLABLE const char *const *preload; /* modules that most programs and tests import, for a warm interpreter */
	/* Of a language that compiles: what a run of the artifact takes beside the language's own command. NULL: nothing.
	 */
	void (*adjust)(struct fh_plan *plan, bool judge);
	/* Why the problem cannot be split, seen from its text; NULL: it can, as far as that shows. */
	FH_NULLABLE const char *(*unfit)(const struct fh_judge_problem *p);
	/* The function, the program and the test of a probe that passes, and prints the version; it also has zygotes made.
	 * NULL: the probe of judging in one process does for both. */
	FH_NULLABLE const char *probe_name, *probe, *probe_test;
	/* Fills what the judge's or the candidate's side reads, or compiles its program with `client`. Errors are about us,
	 * not about the candidate. */
	int (*judge_side)(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
	                  struct fh_split_side *ret, struct fh_error *err);
	int (*candidate_side)(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
	                      struct fh_split_side *ret, struct fh_error *err);
};

/* ---- for language files ---- */

/* The plan of a side of the pair whose driver is a script: made at the first call, kept for all others of its kind. */
int fh_split_script_plan(struct fh_split *s, const struct fh_split_pair *p, bool judge, const struct fh_plan **ret,
                         struct fh_error *err);
/* For a language that compiles: the plan that runs `artifact`, which becomes its only file and the side's. */
int fh_split_program(struct fh_split *s, enum fh_judge_language language, bool judge, struct fh_artifact *artifact,
                     struct fh_split_side *ret, struct fh_error *err);
struct fh_builds *fh_split_builds(struct fh_split *s);
/* "%015d\n" for the length of each part, and for the flag (0 or 1) when it is not NULL; then the parts. */
void fh_split_input(struct fh_buf *out, const struct fh_str *parts, size_t count, FH_NULLABLE const bool *flag);
const struct fh_judge_settings *fh_split_settings(const struct fh_split *s);

/* ---- for the session ---- */

int fh_split_new(const struct fh_judge_settings *settings, struct fh_split **ret, struct fh_error *err);
void fh_split_free(struct fh_split *s); /* NULL is fine */
/* Why problem is judged in one process; NULL when it can be split, as far as its text shows. */
const char *fh_split_unfit(const struct fh_judge_problem *problem);
bool fh_split_has(enum fh_judge_language language);
/* Reads the drivers of a language; before the first pair. */
int fh_split_prepare(struct fh_split *s, enum fh_judge_language language, struct fh_error *err);
/* What the drivers of a language are, for keys; once they are read. */
const char *fh_split_digest(const struct fh_split *s, enum fh_judge_language language);
/* The text of one of its files, of either side or of neither, by its name in the lists; once they are read.
 * Empty: it is in none. */
struct fh_str fh_split_file(const struct fh_split *s, enum fh_judge_language language, const char *name);
/* What the pair's judge begins to read with. */
static inline struct fh_str fh_split_seed(const struct fh_split_pair *p)
{
	return fh_str(p->seed ? p->seed : "0000000000000000");
}

struct fh_split_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason;
	bool unfit;                                             /* the test gives what cannot cross: no verdict */
	bool unfit_after_answers;                               /* so it may be what the candidate gave it before */
	bool retry;                                             /* nobody said how it ended: may be about us */
	FH_OWN FH_NULLABLE struct fh_result *judge, *candidate; /* NULL when nothing ran */
};
void fh_split_outcome_release(struct fh_split_outcome *o);
/* Runs the pair once. 0 with an outcome, or a negative code for what is none. */
int fh_split_run(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                 struct fh_split_outcome *ret, struct fh_error *err);

/* ---- verdicts ---- */

/* What the judge's driver says at its very end: "WORD CALLS SIZE\n" and SIZE bytes of reason, and nothing else. */
struct fh_split_message {
	struct fh_str word, reason;
	uint64_t calls;
};
/* CALLS: how many were answered. Words: passed; failed; tampered (the candidate sent what no honest driver sends);
 * exited (it left by an exception that is none of Exception's); gone (it ended without an answer); unfit (the test
 * gives what does not cross); broken (the test did not get to its first call). False: there is no such message. */
bool fh_split_message_read(struct fh_str stream, struct fh_split_message *ret);
/* Fills verdict, reason, unfit, unfit_after_answers and retry from the two results. */
void fh_split_decide(struct fh_split_outcome *o);
