/* SPDX-License-Identifier: MIT */
/* The step before the run of a program that must be compiled: in a sandbox of its own, or from what is kept of it. */
#pragma once
#include "base/base.h"
#include "fumehood/sandbox.h"

/* Runs plan->compile, unless what it makes is in the cache (compile_cache.h). The result is as fh_run's of that plan:
 * status OK with the artifact as its one file, or what became of the compiler. From the cache it has no output and no
 * usage. Contract: fh_run. */
int fh_compile(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *options,
               struct fh_result **ret, struct fh_error *err);
/* The artifact in such a result; NULL when it is not there. */
FH_NULLABLE const struct fh_out_file *fh_compile_artifact(const struct fh_result *r, const char *name);
