/* SPDX-License-Identifier: MIT */
/*
 * Single runs and verdicts for training and evaluation, beside E2B's API: POST /run_code and /submit in the form of
 * SandboxFusion (bytedance.github.io/SandboxFusion), and /judge with our own verdicts (docs/serve.md).
 */
#pragma once
#include "e2b/server.h"

/* The object in the body, with a turn taken for the caller; NULL after a reply. fh_service_leave gives it back. */
FH_OWN FH_NULLABLE json_t *fh_service_enter(struct fh_http_request *r, struct fh_str body);
void fh_service_leave(struct fh_http_request *r);
