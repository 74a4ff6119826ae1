/* SPDX-License-Identifier: MIT */
/* A RUN: one sandbox for one program, from its plan to its result. */
#pragma once
#include "engine/core/sandbox.h"
#include "engine/serve/queue.h"
#include "engine/warm/template.h"

enum { FH_ENDING_MAX = 16 }; /* sandboxes that end when their run was answered; further answers wait */

/* *ret is NULL when it waits, for a parked sandbox or for its turn (only where may_defer). fh_run_begin follows. */
int fh_run_start(struct fh_engine *e, FH_OWN struct fh_plan *plan, bool stdin_open, size_t window, bool may_defer,
                 struct fh_connection *c, uint64_t request, struct fh_sandbox **ret, struct fh_error *err);
/* The same for one that has had its turn; its plan is taken. */
int fh_run_start_now(struct fh_engine *e, const struct fh_deferred *asked, struct fh_sandbox **ret,
                     struct fh_error *err);
void fh_run_begin(struct fh_sandbox *b); /* after fh_run_start: for one that is ready already */
void fh_run_forget_deferred(struct fh_engine *e, struct fh_connection *c, uint64_t request); /* 0: all of c's */
void fh_run_settle(struct fh_sandbox *b); /* its connection is gone, or it was cancelled: it may free the sandbox */
struct fh_output *fh_run_output(struct fh_sandbox *b, struct fh_id id);
void fh_run_spawn(struct fh_sandbox *b); /* its files are there */
