/* SPDX-License-Identifier: MIT */
/*
 * Runs the user's own scripts inside a sandbox: `sandbox: true` on an assertion, `--sandbox-scripts` for all. The
 * script sees the config's folder and its own file's folder read-only; it sees no variable of our environment, no
 * network and no other file of the user's. Each call is a run of its own: slower than a worker, and no state is kept
 * between calls.
 */
#pragma once
#include "script/script.h"

struct fh_services;

struct fh_script_sandbox_place {
	struct fh_services *services; /* gives the sandbox client */
	char *dir;                    /* the config's folder, absolute; NULL: no folder */
};

/* For fh_script_sandbox.run; context is a struct fh_script_sandbox_place, which has to outlive the pool. */
int fh_eval_script_sandbox_run(void *context, const struct fh_script_sandbox_call *call, json_t **ret_answer,
                               struct fh_error *why, int *ret_failure, struct fh_error *err);
