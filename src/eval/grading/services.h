/* SPDX-License-Identifier: MIT */
/*
 * What rows of an eval share and may start late: a sandbox client (only when a check runs code) and the workers that
 * call the user's own JavaScript and Python functions. One per eval; every function is safe from any thread.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_services;
struct fh_client;      /* fumehood/sandbox.h */
struct fh_judging;     /* eval/judging.h */
struct fh_script_pool; /* script/script.h */

struct fh_services_options {
	unsigned workers;           /* script workers of each language at once: the eval's concurrency */
	const json_t *env;          /* the config's `env`, for the workers; NULL: none */
	const volatile int *cancel; /* a flag that a signal handler sets; NULL: never cancelled */
	/* Of the user's scripts: */
	const char *const *script_env; /* patterns of secret variables that they see; NULL: none (script/environment.h) */
	uint64_t script_timeout_ms;    /* of one call; 0: 300 s */
	bool sandbox_scripts;          /* all of them run inside sandboxes */
	const char *dir;               /* the config's folder, which they may read there; NULL: none */
};

struct fh_services *fh_services_new(const struct fh_services_options *options); /* starts nothing */
void fh_services_free(struct fh_services *s); /* ends what was started; NULL is fine */

/* The sandbox client, started at the first call. A failure is remembered and given to every later caller. */
int fh_services_client(struct fh_services *s, struct fh_client **ret, struct fh_error *err);
/* Sessions of the judge, which use that client. Never NULL. */
struct fh_judging *fh_services_judging(struct fh_services *s);
/* The script workers; a worker process starts when it is first needed. Never NULL. */
struct fh_script_pool *fh_services_scripts(struct fh_services *s);
/* For struct fh_run_options.cancel; may be NULL. */
const volatile int *fh_services_cancel(const struct fh_services *s);
