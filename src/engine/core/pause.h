/* SPDX-License-Identifier: MIT */
/* Pausing and resuming a sandbox; pause.c describes the three ways. */
#pragma once
#include "engine/core/sandbox.h"

/* Answers the request once all processes are stopped (or run again). */
int fh_pause(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
int fh_resume(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
/* called at each check; true when init left two checks without an answer */
bool fh_pause_is_stuck(struct fh_sandbox *b);
/* Returns an error while the sandbox is paused, because nothing may be started then; otherwise 0. */
int fh_pause_refuses(const struct fh_sandbox *b, struct fh_error *err);
/* Whether init runs and can start helpers, though the sandbox may be paused. */
bool fh_pause_lets_helpers_run(const struct fh_sandbox *b);
void fh_pause_on_held(struct fh_sandbox *b, const struct fh_init_held *m);
void fh_pause_end(struct fh_sandbox *b); /* Resumes a sandbox that is to end; sends no answer to a client. */
void fh_pause_drop_connection(struct fh_sandbox *b, struct fh_connection *c);
