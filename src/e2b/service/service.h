/* SPDX-License-Identifier: MIT */
/*
 * Single runs and verdicts for training and evaluation, in addition to E2B's API: POST /run_code and /submit are those
 * of SandboxFusion (bytedance.github.io/SandboxFusion), /judge replies with our own verdicts (docs/serve.md).
 */
#pragma once
#include "e2b/hosted/e2b.h"

/* Waits for the caller's turn and returns the object in the body; NULL after it has replied. fh_service_leave ends the
 * turn. */
FH_OWN FH_NULLABLE json_t *fh_service_enter(struct fh_http_request *r, struct fh_str body);
void fh_service_leave(struct fh_http_request *r);

struct fh_result;
/* A finished command in SandboxFusion's form, without its output. */
FH_OWN json_t *fh_service_command(const struct fh_result *x);
