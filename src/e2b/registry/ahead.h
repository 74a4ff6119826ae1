/* SPDX-License-Identifier: MIT */
/*
 * Sandboxes that are made ahead of the requests for them, with the interpreter of Python's default context where
 * sandboxes of their kind run Python.
 *
 *     first create of a kind   made for the request
 *     second create            made for the request; one more is made ahead, in the background
 *     further ones             get a sandbox that waits, if there is one; the next is made
 *
 * A kind is a built-in template with limits. What waits has belonged to nobody: it has an id, a token and an
 * interpreter of its own, which has run nothing, and goes to one request. At most FH_AHEAD_MOST wait, each for at most
 * FH_AHEAD_IDLE_S seconds, and each takes one of the server's places for sandboxes, which it gives up when a client
 * needs it.
 */
#pragma once
#include "e2b/hosted/hosted.h"

enum { FH_AHEAD_MOST = 8, FH_AHEAD_IDLE_S = 60 };

struct fh_ahead;
struct fh_hosted_registry;
FH_OWN struct fh_ahead *fh_ahead_new(struct fh_hosted_registry *g);
/* Gives h, which is not made yet, a sandbox that waits, and that sandbox's id. False: none fits. */
bool fh_ahead_take(struct fh_ahead *a, struct fh_hosted *h);
/* Notes that a client asks for something: what can wait is made later. */
void fh_ahead_note_request(struct fh_ahead *a);
/* Notes that h, which ran no code before, runs Python: later ones of its kind get an interpreter. */
void fh_ahead_runs_code(struct fh_ahead *a, const struct fh_hosted *h);
/* Ends one that waits, so that its place is free. False: none waits. */
bool fh_ahead_give_up_one(struct fh_ahead *a);
size_t fh_ahead_count(struct fh_ahead *a);
/* Ends all that wait, and makes no more. */
void fh_ahead_stop(struct fh_ahead *a);
void fh_ahead_free(FH_OWN FH_NULLABLE struct fh_ahead *a);
