/* SPDX-License-Identifier: MIT */
/* The parts of a session that a run of many frames is made of, too. */
#pragma once
#include "proto/plan.h"
#include "sandbox/connection/client.h"
#include "sandbox/result.h"

/* A request that is answered by an empty REPLY, with one number in it at most (tag 0: none). */
int fh_simple_call(struct fh_client *client, uint16_t type, struct fh_id id, uint16_t tag, uint64_t value,
                   struct fh_error *err);

/* CREATE with the plan as it is, or that of `like`, without its files. ret_evidence (may be NULL, must be zeroed) gets
 * what the reply says of isolation. */
int fh_sandbox_make(struct fh_client *client, FH_NULLABLE const struct fh_plan *plan,
                    FH_NULLABLE const struct fh_sandbox *like, FH_NULLABLE const struct fh_sandbox_options *options,
                    struct fh_sandbox **ret, FH_NULLABLE struct fh_evidence *ret_evidence, struct fh_error *err);

/* Whether a plan, with its files and its input, may be too large for one frame. */
bool fh_plan_is_large(const struct fh_plan *plan);
int fh_sandbox_put_plan_files(struct fh_sandbox *s, const struct fh_plan *plan, struct fh_error *err);
