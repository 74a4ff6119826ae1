/* SPDX-License-Identifier: MIT */
/*
 * The certificates of `fumehood serve --tls-self-signed`: an authority that is valid for one domain only (name
 * constraints, RFC 5280 section 4.2.1.10), and a certificate that it signed for that domain and all names in it.
 *
 * The program openssl makes both, in a folder of mode 0700: tls/DOMAIN below $STATE_DIRECTORY (systemd's),
 * $XDG_STATE_HOME/fumehood or ~/.local/state/fumehood. The certificate is renewed in its last week; the authority,
 * which clients trust, stays.
 */
#pragma once
#include "base/buf.h"
#include "base/error.h"

#define FH_TLS_DOMAIN "e2b.localhost" /* where systemd-resolved is used, all names in it resolve to this machine */

/* The path of the authority's certificate for a domain, even if it does not exist yet. NULL: no folder for state is
 * known. */
FH_OWN FH_NULLABLE char *fh_serve_tls_authority(const char *domain);
/* Makes or loads the certificate and its key, as PEM. domain has two labels or more. */
int fh_serve_tls(const char *domain, struct fh_buf *certificate, struct fh_buf *key, struct fh_error *err);
