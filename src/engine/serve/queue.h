/* SPDX-License-Identifier: MIT */
/* Runs that wait for their turn: so many sandboxes are being made that one more would make all of them late. */
#pragma once
#include "engine/core/sandbox.h"
#include "engine/warm/pool.h"

enum {
	FH_RUNS_MAKING_MAX = 64, /* runs whose sandboxes are made at once; the others wait for their turn */
	FH_RUNS_WAITING_MAX = 16384,
};

bool fh_queue_is_needed(const struct fh_engine *e);
int fh_queue_add(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err); /* takes its plan */
void fh_queue_forget(struct fh_engine *e, struct fh_connection *c, uint64_t request);         /* 0: all of c's */
void fh_queue_count(struct fh_sandbox *b);                                                    /* of a run, begun */
void fh_queue_is_made(struct fh_sandbox *b); /* it is ready, or gone: the next may have its turn */
