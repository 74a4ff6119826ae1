/* SPDX-License-Identifier: MIT */
/*
 * A fair queue: bounds the number of concurrent runs, however many clients ask, and shares them among the keys.
 *
 * A place that becomes free goes to the key that has the fewest places, and within a key to the request that has waited
 * longest. If a key's queue is full, its request is refused with status 429, so a client that floods the server
 * fills only its own queue.
 */
#pragma once
#include <stdbool.h>
#include "base/base.h"
#include "e2b/common/keys.h"

struct fh_turns;
FH_OWN struct fh_turns *fh_turns_new(unsigned places, unsigned queue_max); /* queue_max: for each key */
void fh_turns_free(FH_OWN struct fh_turns *t);

enum fh_turn { FH_TURN_TAKEN, FH_TURN_FULL, FH_TURN_GIVEN_UP };
/* Waits for a place. gave_up is called now and then and tells whether the caller has lost interest. After TAKEN call
 * fh_turns_done. */
enum fh_turn fh_turns_take(struct fh_turns *t, const struct fh_key *key, bool (*gave_up)(const void *context),
                           const void *context);
void fh_turns_done(struct fh_turns *t, const struct fh_key *key);
