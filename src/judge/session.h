/* SPDX-License-Identifier: MIT */
/*
 * Judging one sample: split where the problem allows it (judge/split.h); otherwise program and test run in one process
 * with the language's driver (judge/languages.h), which a program that means to can deceive, and which is labelled so.
 *
 * A session holds one client, shared by all threads, and for each language the drivers' texts and the interpreter's or
 * compiler's version, asked of a probe that is judged inside a sandbox when the session is opened: a machine on which
 * even that does not pass is an error before any sample runs.
 */
#pragma once
#include "base/sha256.h"
#include "judge/comparing/verdict.h"
#include "judge/formats/problem.h"
#include "judge/seed.h"

/* How far a verdict can be trusted: "split" (judge/split.h), or "in-process": the test ran in the candidate's process.
 */
#define FH_INTEGRITY_SPLIT "split"
#define FH_INTEGRITY_OUTSIDE "outside"
#define FH_INTEGRITY_IN_PROCESS "in-process"
/* Of program and test together: a request is one frame. A candidate that is larger has failed. */
#define FH_JUDGE_PROGRAM_MAX ((size_t)12 << 20)

struct fh_judge_settings {
	struct fh_limits limits;
	FH_NULLABLE const char *interpreter; /* for problems of one language only */
	bool packages;                       /* installed packages are visible */
	unsigned repeat;                     /* how often each sample is judged, to find flaky ones; 0 or 1: once */
	FH_NULLABLE const char *seed;        /* of chance on the judge's side (judge/seed.h); NULL: a new one */
	const volatile int *cancel;          /* set to 1: runs end, nothing new begins. NULL: never */
	FH_NULLABLE const struct fh_client_options *client;
	/* Instead of an engine of the session's own; borrowed, and not replaced when it ends. NULL: none. */
	FH_NULLABLE struct fh_client *shared_client;
	/* Called while what comes before the judging goes on, "expected values" and "self-check", by one thread at a time:
	 * `done` of `total` tasks are through, 0 at the beginning. NULL: none. */
	void (*on_step)(void *context, const char *step, size_t done, size_t total);
	void *context;
};
/* cpu_time 5 s, wall_time 20 s, memory 1G; the rest as `fumehood run`. */
void fh_judge_settings_init(struct fh_judge_settings *s);

struct fh_judge_session;
/* Opens what the problems that the samples name need. settings is borrowed until the session is closed. */
int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err);
void fh_judge_session_close(struct fh_judge_session *s); /* NULL is fine */
const struct fh_judge_settings *fh_judge_settings(const struct fh_judge_session *s);

/* Makes a session that was opened without problems ready for problems of a language, which are judged with fh_judge_one
 * without a self-check; from any thread. Fails where the language's tool is not there. */
int fh_judge_session_add_language(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err);

/* Under which a result may be used again (judge/inputs.h). */
void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX]);

struct fh_judge_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason;                      /* UTF-8; "" when it passed */
	FH_OWN FH_NULLABLE struct fh_result *run; /* the candidate's; NULL when nothing ran; without the driver's message */
	FH_OWN FH_NULLABLE struct fh_result *judge; /* of a split: the judge's process */
	const char *integrity;                      /* FH_INTEGRITY_… */
	char seed[FH_SEED_MAX + 1];                 /* of the judge's side, which repeats it; "": the test draws nothing */
	/* In ms, where they are more than the settings' (fh_judge_time_factor); else 0 */
	uint64_t raised_cpu_time, raised_wall_time;
	/* Where each sample is judged several times (fh_batch_run): how often, how often it passed, and whether the
	 * verdicts differed. The outcome is then the first that is no pass. 0: once */
	unsigned repeats, repeats_passed;
	bool flaky;
};
void fh_judge_outcome_release(struct fh_judge_outcome *o);

/* How a problem's samples are judged. */
enum fh_judge_mode {
	FH_MODE_SPLIT,
	FH_MODE_SPLIT_CHANGES, /* split, and changes that the function makes to its arguments come back */
	FH_MODE_IN_PROCESS,
	FH_MODE_OUTSIDE, /* by output */
};
/* A problem that is none of the session's is split, and changes of arguments come back, where its text allows it. */
enum fh_judge_mode fh_judge_mode(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_mode(struct fh_judge_session *s, const struct fh_judge_problem *problem, enum fh_judge_mode mode);
/* How many times the settings' CPU and wall time a problem's samples get; 1 unless set. */
unsigned fh_judge_time_factor(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_time_factor(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned factor);
/* How many seeds were given up for a problem; 0 unless set. */
unsigned fh_judge_draw(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_draw(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned draw);
struct fh_limits fh_judge_limits(const struct fh_judge_session *s, const struct fh_judge_problem *problem);

/* Judges one sample; from any thread. An engine error is tried once more in a fresh sandbox and is then a verdict.
 * Fails only when cancelled (FH_E_CANCELLED) or when the engine ended too often. */
int fh_judge_one(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err);
/* The same, of a sample that is judged again and again: the turn-th time, from 0, with that turn's hash secret. */
int fh_judge_turn(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, unsigned turn, struct fh_judge_outcome *ret,
                  struct fh_error *err);

/* The program text as it would run, without the driver, for a person to read. */
void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out);

/* What the probe said of the interpreter or compiler; NULL when the session does not use it. */
const char *fh_judge_tool_version(const struct fh_judge_session *s, enum fh_judge_language l);
const char *fh_judge_language_name(enum fh_judge_language l); /* "python": languages/python.json */
/* FH_JUDGE_LANGUAGE_COUNT_: none is called so. */
enum fh_judge_language fh_judge_language_of_name(const char *name);
