/* SPDX-License-Identifier: MIT */
/*
 * The name in a Host header. A page of an attacker's can have a browser ask this machine under the attacker's own name
 * (DNS rebinding), and reads the answers then; so a server that trusts whoever can reach it looks at the name.
 */
#pragma once
#include "base/base.h"

enum { FH_HTTP_HOST_SIZE = 256 };
/* The name in "name:port" or "[address]:port"; false: the text has neither form. */
bool fh_http_host_name(const char *host, char ret[FH_HTTP_HOST_SIZE]);
/* Whether the name is an address, which no rebinding can have. */
bool fh_http_host_is_address(const char *name);
