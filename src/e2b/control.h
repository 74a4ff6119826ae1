/* SPDX-License-Identifier: MIT */
/* What the files of the control API share. */
#pragma once
#include "e2b/server.h"

/* The object in a request's body, an empty one when there is none. NULL after a 400. */
FH_OWN FH_NULLABLE json_t *fh_control_body(struct fh_http_request *r, struct fh_str body);
/* The sandbox of the path, if it is the caller's, with a reference. NULL after a 404. */
FH_NULLABLE struct fh_hosted *fh_control_find(struct fh_http_request *r);
/* `timeout` of a body, seconds, at least least_s and at most what the key may have. False after a 400. */
bool fh_control_lifetime(struct fh_http_request *r, const struct fh_key *key, const json_t *body, int64_t least_s,
                         uint64_t *ret_ms);
/* A sandbox as create and connect answer. */
FH_OWN json_t *fh_control_sandbox(const struct fh_hosted *h);
