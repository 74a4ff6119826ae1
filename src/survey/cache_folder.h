/* SPDX-License-Identifier: MIT */
/*
 * The folders in which this client keeps what compilations made: $XDG_CACHE_HOME/fumehood/NAME (or ~/.cache/…), of mode
 * 0700. One that does not belong to the acting user, or is open to others, is not used. $FUMEHOOD_COMPILE_CACHE sets
 * how many bytes are kept; 0: none, and there are no such folders.
 */
#pragma once
#include "base/base.h"

/* The folder's path, made if necessary; NULL: there is no cache, or the folder is not ours alone. */
FH_OWN FH_NULLABLE char *fh_cache_folder(const char *name);
/* A descriptor of the folder; negative: it is not there, or not ours alone. */
int fh_cache_folder_open(const char *path);
/* Maximum bytes of compiled programs; 0: no cache. */
uint64_t fh_cache_max_bytes(void);
