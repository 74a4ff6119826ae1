/* SPDX-License-Identifier: MIT */
/* A session: the sandbox of a CREATE, which lives until its client disconnects, its lease ends or a DESTROY ends it. */
#pragma once
#include "engine/core/sandbox.h"

/* Starts to make a session; takes ownership of the plan. CREATE is answered when the files are written. */
int fh_session_make(struct fh_engine *e, FH_OWN struct fh_plan *plan, struct fh_connection *c, uint64_t request,
                    struct fh_sandbox **ret, struct fh_error *err);
bool fh_is_session(const struct fh_sandbox *b);
