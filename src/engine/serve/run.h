/* SPDX-License-Identifier: MIT */
/* A RUN: one sandbox for one program, from its plan to its result. */
#pragma once
#include "engine/core/sandbox.h"
#include "engine/serve/queue.h"
#include "engine/warm/template.h"

enum {
	FH_ENDING_MAX = 16
}; /* maximum sandboxes that may still be ending after their run was answered; further answers wait */

/* Starts a run. With may_defer it may have to wait, for a parked sandbox or for its turn: *ret is NULL then. Otherwise
 * the caller calls fh_run_begin next. */
int fh_run_start(struct fh_engine *e, FH_OWN struct fh_plan *plan, bool stdin_open, size_t window, bool may_defer,
                 struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* The same for a run whose turn has come; takes ownership of its plan. */
int fh_run_start_now(struct fh_engine *e, const struct fh_deferred *asked, struct fh_sandbox **ret,
                     struct fh_error *err);
void fh_run_begin(struct fh_sandbox *b); /* call after fh_run_start; begins the run if its sandbox is ready already */
/* Drops the runs of c that wait for a parked sandbox; request 0: all of them. */
void fh_run_forget_deferred(struct fh_engine *e, struct fh_connection *c, uint64_t request);
/* answers the run if its connection is closed or it was cancelled; may free the sandbox */
void fh_run_settle(struct fh_sandbox *b);
struct fh_output *fh_run_output(struct fh_sandbox *b, struct fh_id id);
void fh_run_spawn(struct fh_sandbox *b); /* Starts the run's program. The plan's files must have been written. */
