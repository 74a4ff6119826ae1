/* SPDX-License-Identifier: MIT */
/* Functions shared by the files of the control API. */
#pragma once
#include "e2b/hosted/e2b.h"

/* The sandbox that the path names, if it belongs to the caller, with a reference. NULL after replying with 404. */
FH_NULLABLE struct fh_hosted *fh_control_find(struct fh_http_request *r);
/* Reads a body's `timeout` in seconds: at least least_s, at most the key's ceiling. False after replying with 400. */
bool fh_control_lifetime(struct fh_http_request *r, const struct fh_key *key, const json_t *body, int64_t least_s,
                         uint64_t *ret_ms);
/* A sandbox in the form in which create and connect reply. */
FH_OWN json_t *fh_control_sandbox(const struct fh_hosted *h);
