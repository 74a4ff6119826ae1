/* SPDX-License-Identifier: MIT */
/*
 * What rows of an eval share and may start late: a sandbox client (only when a check runs code) and the workers that
 * call the user's own JavaScript and Python functions. One per eval; every function is safe from any thread.
 */
#pragma once
#include "base/error.h"

struct fh_services;
struct fh_client;  /* fumehood/sandbox.h */
struct fh_scripts; /* eval/script.h */

/* `workers`: how many script workers of each language may run at once (the eval's concurrency). `cancel` points to a
 * flag that a signal handler sets; NULL: never cancelled. */
struct fh_services *fh_services_new(const char *config_dir, unsigned workers, const volatile int *cancel);
void fh_services_free(struct fh_services *s); /* closes what was started; NULL is fine */

/* The sandbox client, started at the first call. A failure is remembered and given to every later caller. */
int fh_services_client(struct fh_services *s, struct fh_client **ret, struct fh_error *err);
/* The script workers, made at the first call (a worker process starts when it is first needed). */
int fh_services_scripts(struct fh_services *s, struct fh_scripts **ret, struct fh_error *err);
/* For struct fh_run_options.cancel. */
const volatile int *fh_services_cancel(const struct fh_services *s);
