/* SPDX-License-Identifier: MIT */
/* A sandbox and a port in it, as the name of a host says them: "8000-i0123….DOMAIN:3000". */
#pragma once
#include "e2b/hosted/hosted.h"

struct fh_e2b_address {
	char id[FH_HOSTED_ID + 44]; /* room for ids that are too long; they are looked up and not found */
	unsigned port;
};
/* False, with *ret unchanged: it names none. The domain may be any, since the id alone leads to a sandbox. */
bool fh_e2b_address_of_host(FH_NULLABLE const char *host, struct fh_e2b_address *ret);
