/* SPDX-License-Identifier: MIT */
/*
 * The user's own scripts inside a sandbox: `sandbox: true` on an assertion, `--sandbox-scripts` for all. The script
 * sees the config's folder, and the one that its file lies in, read-only; nothing of our environment, no network, no
 * other file of the user's. A call is a run of its own: slower than a worker, and with nothing kept between calls.
 */
#pragma once
#include "script/script.h"

struct fh_services;

struct fh_script_sandbox_place {
	struct fh_services *services; /* for the client */
	char *dir;                    /* the config's folder, absolute; NULL: none */
};

/* For fh_script_sandbox.run; context: a struct fh_script_sandbox_place, which outlives the pool. */
int fh_eval_script_sandbox_run(void *context, const struct fh_script_sandbox_call *call, json_t **ret_answer,
                               struct fh_error *why, int *ret_failure, struct fh_error *err);
