/* SPDX-License-Identifier: MIT */
/* The queue of runs that wait for their turn, because one more sandbox made at the same time would delay all of
 * them. */
#pragma once
#include "engine/core/sandbox.h"
#include "engine/warm/pool.h"

enum {
	FH_RUNS_MAKING_MAX = 64, /* maximum runs whose sandboxes are being made at the same time; further runs wait */
	FH_RUNS_WAITING_MAX = 16384,
};

bool fh_queue_is_needed(const struct fh_engine *e);
/* Appends a run to the queue; takes ownership of its plan. */
int fh_queue_add(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err);
void fh_queue_forget(struct fh_engine *e, struct fh_connection *c,
                     uint64_t request);      /* drops the waiting runs of c; request 0: all of them */
void fh_queue_count(struct fh_sandbox *b);   /* counts the sandbox of a run as being made */
void fh_queue_is_made(struct fh_sandbox *b); /* the sandbox is ready or gone, so the next run may begin */
