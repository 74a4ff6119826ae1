/* SPDX-License-Identifier: MIT */
/* A session from the inside: what session.c keeps, and attempt.c judges with. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "judge/languages.h"
#include "judge/session.h"
#include "judge/split.h"

/* How often a session starts an engine anew before it gives up. */
#define FH_JUDGE_ENGINES_MAX 16

struct fh_judge_session {
	const struct fh_judge_settings *settings;
	const struct fh_judge_problems *problems;
	struct fh_split *split;
	_Atomic(enum fh_judge_mode) *modes; /* of problems, by position */
	atomic_uint *time_factors;          /* likewise; 0: 1 */
	atomic_uint *draws;                 /* likewise */
	char seed[FH_SEED_MAX + 1];         /* the settings', or a new one */
	struct fh_judge_drivers drivers[FH_JUDGE_LANGUAGE_COUNT_];
	char driver_digests[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX];   /* of what drivers holds; "" where there is none */
	char language_digests[FH_JUDGE_LANGUAGE_COUNT_][FH_SHA256_HEX]; /* of languages/NAME.json */
	char *versions[FH_JUDGE_LANGUAGE_COUNT_];                       /* NULL: not used */
	char *output_versions[FH_JUDGE_LANGUAGE_COUNT_]; /* likewise, of problems that are judged by output */

	/* An engine that ended is replaced; its client stays until the session is closed, for other threads may be in a
	 * call to it. The last one counts. */
	pthread_mutex_t lock;
	bool added[FH_JUDGE_LANGUAGE_COUNT_]; /* by fh_judge_session_add_language */
	struct fh_client *clients[FH_JUDGE_ENGINES_MAX];
	unsigned engines;
};

/* The engine to use; a new one when `failed` is the newest (0: the first is wanted). *ret_number goes into the next
 * call's `failed`. */
int fh_session_client(struct fh_judge_session *s, unsigned failed, struct fh_client **ret, unsigned *ret_number,
                      struct fh_error *err);
/* Of the interpreter, or the compiler. */
const char *const *fh_session_flags(const struct fh_judge_session *s, enum fh_judge_language l);

/* Of each enum fh_judge_mode: its word in results, and in keys. */
struct fh_mode_words {
	const char *integrity, *key;
};
extern const struct fh_mode_words fh_mode_words[];
