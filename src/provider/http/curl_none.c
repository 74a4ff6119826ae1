/* SPDX-License-Identifier: MIT */
/* Replaces curl.c in static programs, which cannot load libraries. */
#include "provider/http/curl.h"

const struct fh_curl *fh_curl(struct fh_error *err)
{
	fh_error_set(err, FH_E_UNAVAILABLE, "this build of fumehood eval is static and cannot send HTTP requests");
	fh_error_hint(err, "it can use other providers (exec:, file://, recordings); where there is glibc, the Python "
	                   "wheel has a build that can");
	return NULL;
}

const char *fh_curl_authorities(void)
{
	return NULL;
}
