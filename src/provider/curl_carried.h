/* SPDX-License-Identifier: MIT */
/*
 * The libcurl that the Python wheel carries, for a machine that has none: PREFIX/lib/curl, with a file `order` that
 * names each library on a line of its own, none before those that it needs. Each is loaded by its path; what a later
 * one needs is then there under its name, whatever the loader's search path is.
 *
 * The machine's own libcurl is always preferred: its distribution keeps it safe.
 */
#pragma once
#include "base/base.h"

/* A handle for dlsym, or NULL: nothing is carried, or it does not load (dlerror() says why). */
FH_NULLABLE void *fh_curl_carried_load(void);

/* Where this machine keeps the certificates that it trusts, since a carried library knows its own distribution's place
 * only. NULL: at none of the places that are known. */
FH_NULLABLE const char *fh_curl_carried_authorities(void);
