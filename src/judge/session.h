/* SPDX-License-Identifier: MIT */
/*
 * Judging one sample: puts program and test together with the language's driver (guest/judge.*), runs them in a
 * sandbox of their own, and decides.
 *
 * A session holds one client, shared by all threads, and for each language the driver's text and the interpreter's or
 * compiler's version, asked of a probe that is judged inside a sandbox when the session is opened: a machine on which
 * even that does not pass is an error before any sample runs. The test runs in the candidate's process: integrity is
 * "in-process".
 */
#pragma once
#include "base/sha256.h"
#include "judge/problem.h"
#include "judge/verdict.h"

#define FH_JUDGE_INTEGRITY "in-process"
/* Of program and test together: a request is one frame. A candidate that is larger has failed. */
#define FH_JUDGE_PROGRAM_MAX ((size_t)12 << 20)

struct fh_judge_settings {
	struct fh_limits limits;
	FH_NULLABLE const char *interpreter; /* for problems of one language only */
	bool packages;                       /* installed packages are visible */
	const volatile int *cancel;          /* set to 1: runs end, nothing new begins. NULL: never */
	FH_NULLABLE const struct fh_client_options *client;
};
/* cpu_time 5 s, wall_time 20 s, memory 1G; the rest as `fumehood run`. */
void fh_judge_settings_init(struct fh_judge_settings *s);

struct fh_judge_session;
/* Opens what the problems that the samples name need. settings is borrowed until the session is closed. */
int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err);
void fh_judge_session_close(struct fh_judge_session *s); /* NULL is fine */

/* Under which a result may be used again: sample, problem, limits, packages, integrity, our version, the driver and
 * the interpreter's version. */
void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX]);

struct fh_judge_outcome {
	enum fh_verdict verdict;
	FH_OWN char *reason;                      /* UTF-8; "" when it passed */
	FH_OWN FH_NULLABLE struct fh_result *run; /* NULL when nothing ran; stdout without the driver's message */
};
void fh_judge_outcome_release(struct fh_judge_outcome *o);

/* Judges one sample; from any thread. An engine error is tried once more in a fresh sandbox and is then a verdict.
 * Fails only when cancelled (FH_E_CANCELLED) or when the engine ended too often. */
int fh_judge_one(struct fh_judge_session *s, const struct fh_judge_problem *problem,
                 const struct fh_judge_sample *sample, struct fh_judge_outcome *ret, struct fh_error *err);

/* What a verdict on the problem is worth: "outside" (by output), "in-process". */
const char *fh_judge_integrity(const struct fh_judge_problem *problem);

/* The program text as it would run, without the driver, for a person to read. */
void fh_judge_program(const struct fh_judge_problem *problem, const struct fh_judge_sample *sample, struct fh_buf *out);

const char *fh_judge_language_name(enum fh_judge_language l); /* "python": languages/python.json */
