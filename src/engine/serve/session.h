/* SPDX-License-Identifier: MIT */
/* A session: the sandbox of a CREATE, which lives until its client disconnects, its lease ends or a DESTROY ends it. */
#pragma once
#include "engine/core/sandbox.h"
#include "engine/warm/pool.h"

/* Starts to make a session's sandbox, from a template if the plan can have one, as for a run. Takes ownership of
 * asked->plan, on failure too; copies the other fields. CREATE is answered when the plan's files are written. */
int fh_session_make(struct fh_engine *e, const struct fh_deferred *asked, struct fh_error *err);
bool fh_is_session(const struct fh_sandbox *b);
