/* SPDX-License-Identifier: MIT */
/*
 * The libcurl that the Python wheel contains, for machines without one: PREFIX/lib/curl, with a file `order` that lists
 * the libraries, one on each line, each after those that it needs. They are loaded by their paths in this order; the
 * loader then finds the libraries that a later one needs by name, whatever its search path is.
 *
 * The machine's own libcurl is preferred, since its distribution updates it.
 */
#pragma once
#include "base/base.h"

/* A handle for dlsym, or NULL: no libcurl is contained, or it cannot be loaded (dlerror() says why). */
FH_NULLABLE void *fh_curl_carried_load(void);

/* This machine's file of trusted certificates; a contained libcurl only knows the path of the distribution on which it
 * was built. NULL: no known path exists. */
FH_NULLABLE const char *fh_curl_carried_authorities(void);
