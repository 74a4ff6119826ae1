/* SPDX-License-Identifier: MIT */
/* Makes the prepared files of a toolchain, once (compile_cache.h, fh_prepared_dir). */
#pragma once
#include "fumehood/sandbox.h"

/* Makes the prepared files if this compile step needs them and they do not exist; of several callers one makes them and
 * the others wait. If making them fails, the folder is left empty, so that it is not tried again for each program, and
 * programs are compiled without them. Only a broken connection or a cancelled call is an error. */
int fh_prepare(struct fh_client *client, const struct fh_plan *compile, const struct fh_run_options *options,
               struct fh_error *err);
