/* SPDX-License-Identifier: MIT */
/*
 * Who may run next: a bounded number of runs at a time, whatever number of clients ask, and a fair share for each key.
 *
 * A place that becomes free goes to the key that has the fewest, and within a key to who waited longest. A key whose
 * queue is full is told to come again (status 429), so that a client that floods fills its own queue alone.
 */
#pragma once
#include <stdbool.h>
#include "base/base.h"
#include "e2b/keys.h"

struct fh_turns;
FH_OWN struct fh_turns *fh_turns_new(unsigned places, unsigned queue_max); /* queue_max: of one key */
void fh_turns_free(FH_OWN struct fh_turns *t);

enum fh_turn { FH_TURN_TAKEN, FH_TURN_FULL, FH_TURN_GIVEN_UP };
/* Waits for a place. gave_up is asked now and then whether the caller still wants it. After TAKEN: fh_turns_done. */
enum fh_turn fh_turns_take(struct fh_turns *t, const struct fh_key *key, bool (*gave_up)(const void *context),
                           const void *context);
void fh_turns_done(struct fh_turns *t, const struct fh_key *key);
