/* SPDX-License-Identifier: MIT */
/*
 * Signed file URLs: /files?path=P&username=U&signature=S&signature_expiration=T.
 *
 * S is "v1_" and the base64, without padding, of SHA-256 over "P:read:U:TOKEN" or, with an expiration in seconds since
 * 1970, "P:read:U:TOKEN:T"; "write" instead of "read" for an upload; U is empty when the URL names no user. The URL
 * does not name the sandbox: it is the one whose token (TOKEN) makes the signature valid.
 */
#pragma once
#include "e2b/hosted/e2b.h"

/* Whether the request has a valid signature of this sandbox; replies with 401 if not. */
bool fh_e2b_signature_holds(struct fh_http_request *r, const struct fh_hosted *h);
/* The sandbox that signed the request, with a reference; NULL: none. An expired signature counts here too. */
FH_NULLABLE struct fh_hosted *fh_e2b_signature_find(struct fh_hosted_registry *g, struct fh_http_request *r);
