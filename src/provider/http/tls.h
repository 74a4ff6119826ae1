/* SPDX-License-Identifier: MIT */
/* How a connection of libcurl's verifies the server; for the files that include curl.h. */
#pragma once
#include "provider/http/curl.h"
#include "provider/http/http.h"

void fh_http_setup_tls(CURL *c, const struct fh_http_tls *tls);
/* libcurl reads http_proxy in small letters alone, as a program over CGI must: there HTTP_PROXY would be a client's
 * header. Everywhere else people mean it. */
void fh_http_setup_proxy(CURL *c, const char *url);
/* What mends a certificate that was not accepted (CURLE_PEER_FAILED_VERIFICATION). */
const char *fh_http_certificate_hint(CURL *c);
