/* SPDX-License-Identifier: MIT */
/*
 * Finds our own data files: guest drivers ("guest/python/call.py"), languages ("languages/python.json").
 *
 * Search order: $FUMEHOOD_DATA_DIR, and if that is set nowhere else; beside the program and in the folders above it, up
 * to the root of a build within the source tree; share/fumehood of the prefix in which the program is installed; then
 * the same for the shared library, which any program may have loaded.
 */
#pragma once
#include "base/base.h"
#include "base/error.h"

/* The path of the existing data file or folder `name` (relative, clean). free() *ret. FH_E_NOT_FOUND says where it was
 * searched. */
int fh_data_path(const char *name, char **ret, struct fh_error *err);

/* The folder of the file that contains this code: the shared library, or the program itself. NULL: unknown. free()
 * it. */
FH_OWN char *fh_library_dir(void);
