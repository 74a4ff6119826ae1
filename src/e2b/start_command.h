/* SPDX-License-Identifier: MIT */
/* The start command of a template, in a sandbox that was made from it: it goes on beside what clients run, and the
 * template's ready command says when it is up. */
#pragma once
#include "e2b/server.h"

enum { FH_START_BUILD_MS = 10 * 60 * 1000, FH_START_CREATE_MS = 60 * 1000 };

/* Starts it, and waits until it is ready, or has ended. Nothing when `settings` names none. -FH_E_TIMEOUT;
 * -FH_E_ARGUMENT: it ended with a failure before it was ready. */
int fh_start_command(struct fh_hosted *h, const json_t *settings, int64_t patience_ms, struct fh_error *err);
