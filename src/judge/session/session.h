/* SPDX-License-Identifier: MIT */
/*
 * Judges samples: split if the problem allows it (judge/split/split.h). Otherwise program and test run in one process
 * with the language's driver (judge/problems/languages.h), which a malicious program can deceive; such verdicts are
 * labelled.
 *
 * A session has one client, shared by all threads, and for each language the drivers' texts and the version of the
 * interpreter or compiler. The version comes from a probe, a correct program that is judged in a sandbox when the
 * session is opened. If the probe does not pass, opening the session fails, before any sample is run.
 */
#pragma once
#include "base/text/sha256.h"
#include "judge/problems/problem.h"
#include "judge/common/outcome.h"
#include "judge/common/settings.h"

/* Maximum of program and test together, since a request is one frame. A larger candidate fails. */
#define FH_JUDGE_PROGRAM_MAX ((size_t)12 << 20)

struct fh_judge_session;
/* Opens a session for the problems of the samples. settings is borrowed until the session is closed. */
int fh_judge_session_open(const struct fh_judge_settings *settings, const struct fh_judge_problems *problems,
                          const struct fh_judge_samples *samples, struct fh_judge_session **ret, struct fh_error *err);
void fh_judge_session_close(struct fh_judge_session *s); /* NULL is allowed */
const struct fh_judge_settings *fh_judge_settings(const struct fh_judge_session *s);

/* Prepares a session that was opened without problems for those of a language, which are judged by fh_judge_one without
 * a self-check. Thread-safe. Fails if the language's tool is missing. */
int fh_judge_session_add_language(struct fh_judge_session *s, enum fh_judge_language language, struct fh_error *err);

/* The key under which a result may be reused (judge/session/inputs.h). */
void fh_judge_key(const struct fh_judge_session *s, const struct fh_judge_problem *problem,
                  const struct fh_judge_sample *sample, char ret_hex[FH_SHA256_HEX]);

/* The modes in which a problem's samples are judged. */
enum fh_judge_mode {
	FH_MODE_SPLIT,
	FH_MODE_SPLIT_CHANGES, /* split, with changes that the function makes to its arguments sent back */
	FH_MODE_IN_PROCESS,
	FH_MODE_OUTSIDE, /* programs are judged by what they print */
};
/* A problem that is not part of the session is split, with changed arguments sent back, if its text allows it. So is
 * one for which no reference or self-check tells that it does without. */
enum fh_judge_mode fh_judge_mode(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
/* Whether a self-check finds the problem's mode; to be said before it does. */
bool fh_judge_is_checked(const struct fh_judge_session *s, const struct fh_judge_problem *problem);
void fh_judge_set_checked(struct fh_judge_session *s, const struct fh_judge_problem *problem);
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

/* The version of the interpreter or compiler, from the probe; NULL: the session does not use the language. */
const char *fh_judge_tool_version(const struct fh_judge_session *s, enum fh_judge_language l);
