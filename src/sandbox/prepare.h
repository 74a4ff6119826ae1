/* SPDX-License-Identifier: MIT */
/* What a toolchain's compiles need, made once (compile_cache.h, fh_prepared_dir). */
#pragma once
#include "fumehood/sandbox.h"

/* Makes it when this compile step is to see it and it is not there; one maker at a time, the others wait. When it
 * cannot be made the folder stays empty, so that it is not tried for each program: compiling has to do without. Only a
 * broken connection or a cancelled call is an error. */
int fh_prepare(struct fh_client *client, const struct fh_plan *compile, const struct fh_run_options *options,
               struct fh_error *err);
