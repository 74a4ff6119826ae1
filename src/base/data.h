/* SPDX-License-Identifier: MIT */
/*
 * Where our own data files are: guest drivers ("guest/python/call.py"), languages ("languages/python.json").
 *
 * Looked for in this order: $FUMEHOOD_DATA_DIR (then nowhere else); beside the program and in the folders above it, up
 * to the root of a build inside its source tree, and in share/fumehood of the prefix that the program is installed in;
 * the same again for the shared library, which any program may have loaded.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

/* The path of the data file or folder `name` (relative, clean), which exists. free() *ret. FH_E_NOT_FOUND says where
 * it was looked for. */
int fh_data_path(const char *name, char **ret, struct fh_error *err);

/* The folder of the file that this code was loaded from: the shared library, or the program itself. NULL: not known.
 * free() it. */
FH_OWN char *fh_library_dir(void);
