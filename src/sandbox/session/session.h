/* SPDX-License-Identifier: MIT */
/* Parts of a session that are also used for a run that needs several frames. */
#pragma once
#include "proto/plan.h"
#include "sandbox/connection/client.h"
#include "sandbox/connection/result.h"

/* A request that is answered by an empty REPLY and has at most one number (tag 0: none). */
int fh_simple_call(struct fh_client *client, uint16_t type, struct fh_id id, uint16_t tag, uint64_t value,
                   struct fh_error *err);

/* Sends CREATE with the plan, or with the id of `like`, whose plan is copied without its files. ret_evidence may be
 * NULL and must be zeroed; it gets what the reply says about isolation. */
int fh_sandbox_make(struct fh_client *client, FH_NULLABLE const struct fh_plan *plan,
                    FH_NULLABLE const struct fh_sandbox *like, FH_NULLABLE const struct fh_sandbox_options *options,
                    struct fh_sandbox **ret, FH_NULLABLE struct fh_evidence *ret_evidence, struct fh_error *err);

/* Whether a plan with its files and input may be too large for one frame. */
bool fh_plan_is_large(const struct fh_plan *plan);
int fh_sandbox_put_plan_files(struct fh_sandbox *s, const struct fh_plan *plan, struct fh_error *err);
