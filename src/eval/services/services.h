/* SPDX-License-Identifier: MIT */
/*
 * Services that the rows of an eval share and that start on first use: a sandbox client (only when a check runs code)
 * and the workers that call the user's own JavaScript and Python functions. One object for each eval; every function
 * is thread-safe.
 */
#pragma once
#include "base/error.h"
#include "json/json.h"

struct fh_services;
struct fh_client;      /* fumehood/sandbox.h */
struct fh_judging;     /* eval/services/judging.h */
struct fh_script_pool; /* script/script.h */

struct fh_services_options {
	unsigned workers;           /* maximum of script workers for each language: the eval's concurrency */
	const json_t *env;          /* the config's `env`, for the workers; NULL: no variables */
	const volatile int *cancel; /* a flag that a signal handler sets; NULL: never cancelled */
	/* For the user's scripts: */
	const char *const *script_env; /* patterns of the secret variables that they see; NULL: no secrets */
	uint64_t script_timeout_ms;    /* time limit of a call of a script; 0: 300 s */
	bool sandbox_scripts;          /* all scripts run inside sandboxes */
	const char *dir;               /* the config's folder, which sandboxed scripts may read; NULL: no folder */
};

struct fh_services *fh_services_new(const struct fh_services_options *options); /* starts no service */
void fh_services_free(struct fh_services *s); /* ends the client and the workers; NULL is fine */

/* The sandbox client, which the first call starts. If that fails, every later call returns the same error. When its
 * engine has ended, another is started in its place, up to FH_SERVICES_ENGINES_MAX; what used the old one may go on
 * with it, and fails. */
#define FH_SERVICES_ENGINES_MAX 16
int fh_services_client(struct fh_services *s, struct fh_client **ret, struct fh_error *err);
/* Whether the engine of this client has ended: what failed with it may be tried again with the next. */
bool fh_services_client_ended(const struct fh_client *client);
/* The judge's sessions that use this client. Never NULL. */
struct fh_judging *fh_services_judging(struct fh_services *s, const struct fh_client *client);
/* The script workers; a worker process starts when it is first needed. Never NULL. */
struct fh_script_pool *fh_services_scripts(struct fh_services *s);
/* The cancel flag, for struct fh_run_options.cancel; may be NULL. */
const volatile int *fh_services_cancel(const struct fh_services *s);
