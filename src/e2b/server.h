/* SPDX-License-Identifier: MIT */
/*
 * `fumehood serve`: a server for E2B's own SDKs, on one HTTP port. Its parts:
 *
 *     control/         E2B's control API: sandboxes, templates, snapshots, their logs and metrics
 *     service/         single runs and verdicts, which E2B does not have
 *     envd/            processes, files, watchers of a sandbox                       (its port 49983)
 *     interpreter/     code contexts of a sandbox                                    (its port 49999)
 *     ingress.c        every other port of a sandbox
 *
 * Below them are hosted/, the sandboxes and what runs in them, and common/, what knows no sandbox.
 *
 * The part is chosen by the request's headers (E2b-Sandbox-Id, E2b-Sandbox-Port) or by its Host (PORT-ID.DOMAIN); a
 * request that names no sandbox is for the control API, except for signed file URLs (routing.c). The SDKs use E2B's
 * public API; where versions of it differ, both forms are accepted.
 *
 * One engine makes all sandboxes (common/engine.h). Handlers run on the threads of connections, so all functions here
 * may block.
 */
#pragma once
#include "e2b/hosted/e2b.h"

/* The caller opens the listening socket and passes the port to fh_e2b_listening. */
int fh_e2b_open(const struct fh_e2b_options *o, struct fh_e2b **ret, struct fh_error *err);
void fh_e2b_listening(struct fh_e2b *s, uint16_t port);
/* Ends all sandboxes, which ends every stream. The caller then stops its HTTP server, and closes this. */
void fh_e2b_stop(struct fh_e2b *s);
void fh_e2b_close(struct fh_e2b *s);
/* For struct fh_http_options; context is the struct fh_e2b. */
const struct fh_http_route *fh_e2b_route(void *context, struct fh_http_request *r);
void fh_e2b_done(void *context, const struct fh_http_request *r, unsigned status, int64_t took_ns);
