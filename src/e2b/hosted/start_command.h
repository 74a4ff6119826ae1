/* SPDX-License-Identifier: MIT */
/* Runs the start command of a template in a sandbox made from it: it keeps running beside the clients' commands, and
 * the template's ready command tells when it is ready. */
#pragma once
#include "e2b/hosted/e2b.h"

enum { FH_START_BUILD_MS = 10 * 60 * 1000, FH_START_CREATE_MS = 60 * 1000 };

/* Starts the command and waits until it is ready or has ended. Does nothing when `settings` has no start command.
 * -FH_E_TIMEOUT; -FH_E_ARGUMENT: it failed before it was ready. */
int fh_start_command(struct fh_hosted *h, const json_t *settings, int64_t patience_ms, struct fh_error *err);
