/* SPDX-License-Identifier: MIT */
/* Compiles a program before it is run: in a sandbox of its own, or by taking the artifact from the cache. */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

/* Runs plan->compile, unless its artifact is in the cache (compile_cache.h). The result is like fh_run's for that plan:
 * status OK with the artifact as its one file, or how the compiler failed. From the cache, it has no output and no
 * usage. Contract: fh_run. */
int fh_compile(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
               struct fh_result **ret, struct fh_error *err);
/* The artifact in such a result; NULL if it is missing. */
FH_NULLABLE const struct fh_out_file *fh_compile_artifact(const struct fh_result *r, const char *name);
