/* SPDX-License-Identifier: MIT */
/*
 * Judges samples: split if the problem allows it (judge/split/split.h). Otherwise program and test run in one process
 * with the language's driver (judge/languages.h), which a malicious program can deceive; such verdicts are labelled.
 *
 * A session has one client, shared by all threads, and for each language the drivers' texts and the version of the
 * interpreter or compiler. The version comes from a probe, a correct program that is judged in a sandbox when the
 * session is opened. If the probe does not pass, opening the session fails, before any sample is run.
 */
#pragma once
#include "base/sha256.h"
#include "judge/comparing/verdict.h"
#include "judge/formats/problem.h"
#include "judge/seed.h"

/* How far a verdict can be trusted: "split" (judge/split/split.h); "outside": by output, compared outside the sandbox;
 * or "in-process": the test ran in the candidate's process. */
#define FH_INTEGRITY_SPLIT "split"
#define FH_INTEGRITY_OUTSIDE "outside"
#define FH_INTEGRITY_IN_PROCESS "in-process"
/* Maximum of program and test together, since a request is one frame. A larger candidate fails. */
#define FH_JUDGE_PROGRAM_MAX ((size_t)12 << 20)

struct fh_judge_settings {
	struct fh_limits limits;
	FH_NULLABLE const char *interpreter; /* only if all problems have the same language */
	bool packages;                       /* makes installed packages visible */
	unsigned repeat;              /* number of times that each sample is judged, to find flaky ones; 0 or 1: once */
	FH_NULLABLE const char *seed; /* for random numbers on the judge's side (judge/seed.h); NULL: a new one */
	const volatile int *cancel;   /* set to 1: runs are ended and none is begun; may be NULL */
	FH_NULLABLE const struct fh_client_options *client;
	/* A client to use instead of an engine of the session's own; borrowed, and not replaced if its engine ends. NULL:
	 * none. */
	FH_NULLABLE struct fh_client *shared_client;
	/* Reports progress before the judging ("expected values" and "self-check"), by one thread at a time: `done` of
	 * `total` tasks are finished, beginning with 0. May be NULL. */
	void (*on_step)(void *context, const char *step, size_t done, size_t total);
	void *context;
};
/* Limits of a sample where the user sets none: times in ms, memory in bytes. */
enum { FH_JUDGE_CPU_TIME_DEFAULT = 5000, FH_JUDGE_WALL_TIME_DEFAULT = 20000, FH_JUDGE_MEMORY_DEFAULT = 1 << 30 };
/* Sets these limits, and the others as for `fumehood run`. */
void fh_judge_settings_init(struct fh_judge_settings *s);

struct fh_judge_session;
/* Opens a session for the problems of the samples. settings is borrowed until the session is closed. */
int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err);
void fh_judge_session_close(struct fh_judge_session *s); /* NULL is allowed */
const struct fh_judge_settings *fh_judge_settings(const struct fh_judge_session *s);

/* Prepares a session that was opened without problems for those of a language, which are judged by fh_judge_one without
 * a self-check. Thread-safe. Fails if the language's tool is missing. */
int fh_judge_session_add_language(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err);

/* The key under which a result may be reused (judge/inputs.h). */
void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX]);

struct fh_judge_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason; /* UTF-8; "" if passed */
	/* the candidate's run, without the driver's message; NULL: nothing was run */
	FH_OWN FH_NULLABLE struct fh_result *run;
	FH_OWN FH_NULLABLE struct fh_result *judge; /* if split: the run of the judge's process */
	const char *integrity;                      /* FH_INTEGRITY_… */
	/* seed for the judge's side, which repeats the result; "": the test uses no randomness */
	char seed[FH_SEED_MAX + 1];
	/* Time limits in ms, if they are raised above the settings' (fh_judge_time_factor); else 0. */
	uint64_t raised_cpu_time, raised_wall_time;
	/* If each sample is judged several times (fh_batch_run): the number of times, the number of passes, and whether the
	 * verdicts differed. The outcome is that of the first failure. repeats 0: judged once. */
	unsigned repeats, repeats_passed;
	bool flaky;
};
void fh_judge_outcome_release(struct fh_judge_outcome *o);

/* The modes in which a problem's samples are judged. */
enum fh_judge_mode {
	FH_MODE_SPLIT,
	FH_MODE_SPLIT_CHANGES, /* split, with changes that the function makes to its arguments sent back */
	FH_MODE_IN_PROCESS,
	FH_MODE_OUTSIDE, /* by output */
};
/* A problem that is not part of the session is split, with changed arguments sent back, if its text allows it. */
enum fh_judge_mode fh_judge_mode(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_mode(struct fh_judge_session *s, const struct fh_judge_problem *problem, enum fh_judge_mode mode);
/* The factor by which the settings' CPU and wall time are multiplied for a problem's samples; 1 unless set. */
unsigned fh_judge_time_factor(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_time_factor(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned factor);
/* The number of draws that were given up for a problem; 0 unless set. */
unsigned fh_judge_draw(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_draw(struct fh_judge_session *s, const struct fh_judge_problem *problem, unsigned draw);
struct fh_limits fh_judge_limits(const struct fh_judge_session *s, const struct fh_judge_problem *problem);

/* Judges one sample. Thread-safe. After an engine error it is tried once more in a fresh sandbox; a second error is the
 * verdict. Fails only if cancelled (FH_E_CANCELLED), or if the engine ended too often. */
int fh_judge_one(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err);
/* The same for a sample that is judged repeatedly: for the turn-th time, from 0, with the hash secret for that turn. */
int fh_judge_turn(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, unsigned turn, struct fh_judge_outcome *ret,
                  struct fh_error *err);

/* The program's text as it would be run, without the driver, for display. */
void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out);

/* The version of the interpreter or compiler, from the probe; NULL: the session does not use the language. */
const char *fh_judge_tool_version(const struct fh_judge_session *s, enum fh_judge_language l);
const char *fh_judge_language_name(enum fh_judge_language l); /* "python", as in languages/python.json */
/* FH_JUDGE_LANGUAGE_COUNT_: no language has this name. */
enum fh_judge_language fh_judge_language_of_name(const char *name);
