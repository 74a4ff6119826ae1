/* SPDX-License-Identifier: MIT */
/* How a connection of libcurl's verifies the server; for the files that include curl.h. */
#pragma once
#include "provider/http/curl.h"
#include "provider/http/http.h"

void fh_http_setup_tls(CURL *c, const struct fh_http_tls *tls);
