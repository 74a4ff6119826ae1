/* SPDX-License-Identifier: MIT */
/*
 * A certificate of our own for `fumehood serve --tls-self-signed`: an authority that may vouch for one domain alone
 * (name constraints, RFC 5280 section 4.2.1.10), and a certificate of it for that domain and all names in it.
 *
 * Both are made once, by the program openssl, in a folder of mode 0700: $STATE_DIRECTORY (systemd's),
 * $XDG_STATE_HOME/fumehood or ~/.local/state/fumehood, below it tls/DOMAIN. The certificate is made anew when it is in
 * its last week; the authority, which clients trust, stays.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_TLS_DOMAIN "e2b.localhost" /* a name in it leads to this machine wherever systemd-resolved answers */

/* The path of the authority's certificate for a domain, made or not. NULL: there is no folder for state. */
FH_OWN FH_NULLABLE char *fh_serve_tls_authority(const char *domain);
/* domain: of two labels or more. The certificate and its key as PEM. */
int fh_serve_tls(const char *domain, struct fh_buf *certificate, struct fh_buf *key, struct fh_error *err);
