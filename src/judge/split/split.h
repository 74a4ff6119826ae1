/* SPDX-License-Identifier: MIT */
/*
 * Split judging: the test runs in one sandbox, the candidate in another, connected only by two pipes.
 *
 *     judge's process      fd 3 reads from the candidate, fd 4 writes to it,
 *                          fd 5 is the driver stream (struct fh_split_message)
 *     candidate's process  fd 3 reads from the judge, fd 4 writes to it
 *
 * The test and the values that it expects are only in the judge's process, and the candidate's program only in the
 * candidate's. In the judge's process a *stand-in* takes the place of the tested function: a call of it is sent to the
 * candidate's process, and the result comes back. Only calls and values cross, in a codec of the language's drivers
 * (guest/NAME/split_*) that executes nothing. A sample passes only if the kernel reports that the judge's process ended
 * with status 0, after its driver stream said "passed" and the number of answered calls, at least one.
 *
 * The part of a language is in its own file (languages/python.c). Plans are made once for each language and side, so
 * that sandboxes can be made ahead; samples differ only in the input and, for compiled languages, in files.
 */
#pragma once
#include "judge/split/build.h"
#include "judge/common/verdict.h"
#include "judge/problems/problem.h"

struct fh_judge_settings;
struct fh_split; /* what a session keeps for split judging: drivers, plans, kept artifacts */

/* One side of a pair, ready to run. */
struct fh_split_side {
	FH_NULLABLE const struct fh_plan *plan; /* borrowed from the fh_split */
	struct fh_buf input;                    /* the side's stdin */
	struct fh_file files[4];                /* in addition to the plan's; contents are borrowed or `owned` */
	size_t file_count;
	FH_OWN FH_NULLABLE void *owned;
	/* set if the candidate's program does not compile: the error. Nothing is run */
	FH_OWN FH_NULLABLE char *compile_error;
	/* set if the judge's side cannot be made for this task: the reason. Nothing is run */
	FH_OWN FH_NULLABLE char *unfit;
};

/* What one pair of sandboxes runs: a test in one, a candidate's program in the other. */
struct fh_split_pair {
	const struct fh_judge_problem *problem;
	struct fh_str head, completion; /* the candidate's program: both texts in this order */
	bool changes;                   /* changed arguments are sent back, as the reference needs it */
	char spoiler;                   /* not 0: one of spoilers, which answers instead of the candidate */
	bool wait;                      /* waits for zygotes, if they are possible, so that later pairs find them */
	FH_NULLABLE const struct fh_limits *limits; /* limits used instead of the settings'; NULL: none */
	unsigned turn;                              /* how many times the sample was judged before (fh_judge_hash_secret) */
	FH_NULLABLE const char *seed; /* FH_SEED_DIGITS digits, for random numbers on the judge's side; NULL: zeros */
};

#define FH_SPLIT_MODULES "/opt/fumehood/split"
enum { FH_SPLIT_DRIVERS_MAX = 6 };

struct fh_split_language {
	/* The driver's files in guest/NAME/, in order; NULL ends a list. */
	const char *judge[FH_SPLIT_DRIVERS_MAX], *candidate[FH_SPLIT_DRIVERS_MAX];
	/* Files that neither side uses as a whole. */
	const char *others[FH_SPLIT_DRIVERS_MAX];
	/* NULL: the files together are the program. Otherwise they are modules below FH_SPLIT_MODULES, of which a zygote
	 * imports the last one ahead of the pair (and through it the others), and this text is the program. */
	FH_NULLABLE const char *judge_main, *candidate_main;
	FH_NULLABLE const char *const *flags;   /* options of the interpreter */
	FH_NULLABLE const char *const *preload; /* modules that most programs and tests import, for warm interpreters */
	/* Whether the declared types say that changes of arguments come back. NULL: no type says so. */
	bool (*changes)(const struct fh_judge_problem *p);
	/* What a judge's driver can answer by itself, in place of the candidate: it empties the arguments and returns
	 * nothing, something, or one of them; each a letter. NULL: it cannot. */
	FH_NULLABLE const char *spoilers;
	/* For a compiled language: adjusts the plan that runs the artifact. NULL: no change. */
	void (*adjust)(struct fh_plan *plan, bool judge);
	/* The reason why the problem's text shows that it cannot be split; NULL: no reason is visible. */
	FH_NULLABLE const char *(*unfit)(const struct fh_judge_problem *p);
	/* The function, program and test of a probe that passes and prints the version; it also has zygotes made. NULL: the
	 * probe for one process is used. */
	FH_NULLABLE const char *probe_name, *probe, *probe_test;
	/* Makes the input of the judge's or the candidate's side, or compiles its program with `client`. Errors are not the
	 * candidate's. */
	int (*judge_side)(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
	                  struct fh_split_side *ret, struct fh_error *err);
	int (*candidate_side)(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
	                      struct fh_split_side *ret, struct fh_error *err);
};

/* ---- for language files ---- */

/* The plan of one side of the pair, if its driver is a script. Made at the first call and kept for all pairs of its
 * kind. */
int fh_split_script_plan(struct fh_split *s, const struct fh_split_pair *p, bool judge, const struct fh_plan **ret,
                         struct fh_error *err);
/* For a compiled language: the plan that runs `artifact`, which becomes the side's file. */
int fh_split_program(struct fh_split *s, enum fh_judge_language language, bool judge, struct fh_artifact *artifact,
                     struct fh_split_side *ret, struct fh_error *err);
struct fh_builds *fh_split_builds(struct fh_split *s);
/* Appends "%015d\n" for the length of each part, and for the flag (0 or 1) if it is not NULL; then the parts. */
void fh_split_input(struct fh_buf *out, const struct fh_str *parts, size_t count, FH_NULLABLE const bool *flag);

/* ---- for the session ---- */

int fh_split_new(const struct fh_judge_settings *settings, struct fh_split **ret, struct fh_error *err);
void fh_split_free(struct fh_split *s); /* NULL is allowed */
/* The reason why the problem is judged in one process; NULL: its text shows no reason. */
const char *fh_split_unfit(const struct fh_judge_problem *problem);
bool fh_split_has(enum fh_judge_language language);
/* Reads the drivers of a language; to be called before the first pair. */
int fh_split_prepare(struct fh_split *s, enum fh_judge_language language, struct fh_error *err);
/* The digest of the drivers' texts, for keys; once they are read. */
const char *fh_split_digest(const struct fh_split *s, enum fh_judge_language language);
/* The text of a driver file by its name in the lists, once they are read. Empty: it is in none of them. */
struct fh_str fh_split_file(const struct fh_split *s, enum fh_judge_language language, const char *name);
/* The seed at the beginning of the judge's input. */
static inline struct fh_str fh_split_seed(const struct fh_split_pair *p)
{
	return fh_str(p->seed ? p->seed : "0000000000000000");
}

/* What becomes of arguments, for the judge's driver of a compiled language; behind the seed. */
static inline char fh_split_arguments(const struct fh_split_pair *p)
{
	return p->spoiler ? p->spoiler : p->changes ? '1' : '0';
}

struct fh_split_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason;
	bool unfit;               /* the test passes a value that cannot cross; there is no verdict */
	bool unfit_after_answers; /* as UNFIT, but the value may have come from the candidate */
	bool lacks;               /* it failed where the test uses a name that only the program can define */
	bool not_finite;          /* the test passed, but a result contained a NaN or an infinity (common/finite.h) */
	bool retry;               /* no process reported how it ended, so the error may be ours */
	FH_OWN FH_NULLABLE struct fh_result *judge, *candidate; /* NULL: nothing was run */
};
void fh_split_outcome_release(struct fh_split_outcome *o);
/* Runs the pair once. Returns 0 with an outcome, or a negative code for an error that is not the candidate's. */
int fh_split_run(struct fh_split *s, struct fh_client *client, const struct fh_split_pair *p,
                 struct fh_split_outcome *ret, struct fh_error *err);

/* ---- verdicts ---- */

/* The final message of the judge's driver: "WORD CALLS SIZE\n" and SIZE bytes of reason, and nothing else. */
struct fh_split_message {
	struct fh_str word, reason;
	uint64_t calls;
};
/* CALLS is the number of answered calls. Words: passed; failed; lacks (it failed, as the test itself uses a name that
 * only the program can define); tampered (the candidate sent what no honest driver sends); exited (it left by an
 * exception that does not derive from Exception); gone (it ended without an answer); unfit (the test passes a value
 * that cannot cross); broken (the test failed before its first call). The reason of `passed` is empty or FH_NOT_FINITE.
 * False: there is no such message. */
bool fh_split_message_read(struct fh_str stream, struct fh_split_message *ret);
/* Sets all but the results themselves, from the two results. */
void fh_split_decide(struct fh_split_outcome *o);
