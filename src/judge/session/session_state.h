/* SPDX-License-Identifier: MIT */
/* The internals of a session, shared by session.c and attempt.c. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "judge/problems/languages.h"
#include "judge/session/session.h"
#include "judge/split/split.h"

/* number of engines that a session starts before it gives up */
#define FH_JUDGE_ENGINES_MAX 16

struct fh_judge_session {
	const struct fh_judge_settings *settings;
	const struct fh_judge_problems *problems;
	struct fh_split *split;
	_Atomic(enum fh_judge_mode) *modes; /* the mode of each problem, by index */
	atomic_bool *checked;               /* whether a self-check finds the problem's mode, by index */
	atomic_uint *time_factors;          /* the factor for each problem's time limits, by index; 0 means 1 */
	atomic_uint *draws;                 /* the draw number of each problem, by index */
	char seed[FH_SEED_MAX + 1];         /* the settings' seed, or a new one */
	struct fh_judge_drivers drivers[FH_JUDGE_LANGUAGE_COUNT_];
	char driver_digests[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX];   /* of the content of `drivers`; "": no drivers */
	char language_digests[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX]; /* digests of languages/NAME.json */
	char *versions[FH_JUDGE_LANGUAGE_COUNT_];                       /* NULL: the language is not used */
	char *output_versions[FH_JUDGE_LANGUAGE_COUNT_];                /* the same, for problems judged by output */

	/* If an engine ends, a new client is opened. The old one is kept until the session is closed, because other threads
	 * may be using it. The last one is current. */
	pthread_mutex_t lock;
	bool added[FH_JUDGE_LANGUAGE_COUNT_]; /* set by fh_judge_session_add_language */
	struct fh_client *clients[FH_JUDGE_ENGINES_MAX];
	unsigned engines;
};

/* Returns the client to use. If `failed` is the number of the newest one, a new one is opened; 0: none has failed.
 * *ret_number is to be passed as `failed` in the next call. */
int fh_session_client(struct fh_judge_session *s, unsigned failed, struct fh_client **ret, unsigned *ret_number,
                      struct fh_error *err);
/* Options of the interpreter or compiler. */
const char *const *fh_session_flags(const struct fh_judge_session *s, enum fh_judge_language l);

/* For each enum fh_judge_mode: its word in results, and its word in keys. */
struct fh_mode_words {
	const char *integrity, *key;
};
extern const struct fh_mode_words fh_mode_words[];
