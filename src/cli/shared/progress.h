/* SPDX-License-Identifier: MIT */
/*
 * A progress bar on stderr: "judge [#####-----] 512/1000 51% passed 400 failed 112 eta 12s". On a terminal it is drawn
 * at most ten times a second and erased at the end; elsewhere a line is printed every ten seconds, unless quiet.
 * Thread-safe.
 */
#pragma once
#include "base/base.h"

struct fh_progress;
FH_OWN struct fh_progress *fh_progress_new(const char *title, uint64_t total, bool quiet);
void fh_progress_step(struct fh_progress *p, uint64_t done, FH_NULLABLE const char *note); /* done: count so far */
void fh_progress_free(struct fh_progress *p);
