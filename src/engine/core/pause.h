/* SPDX-License-Identifier: MIT */
/* A sandbox that is held still, and let go again (pause.c says by what). */
#pragma once
#include "engine/core/sandbox.h"

/* Answers the request once everybody is held still, or has been let go. */
int fh_pause(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
int fh_resume(struct fh_sandbox *b, struct fh_connection *c, uint64_t request, struct fh_error *err);
bool fh_pause_is_stuck(struct fh_sandbox *b);                           /* init does not answer: at the second look */
int fh_pause_refuses(const struct fh_sandbox *b, struct fh_error *err); /* paused: nothing is started; else 0 */
void fh_pause_on_held(struct fh_sandbox *b, const struct fh_init_held *m);
void fh_pause_end(struct fh_sandbox *b); /* lets go for its end; answers nobody */
void fh_pause_drop_connection(struct fh_sandbox *b, struct fh_connection *c);
