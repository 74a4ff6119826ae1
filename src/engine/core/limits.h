/* SPDX-License-Identifier: MIT */
/* Limits of time and output, the use of a sandbox, and what each limit is worth on this host (docs/limits.md). */
#pragma once
#include "engine/core/process.h"

void fh_limits_start(struct fh_process *p);
void fh_limits_stop(struct fh_process *p);
void fh_limits_fire(struct fh_process *p, enum fh_limit limit);       /* notes it, and ends what it ends */
void fh_limits_use(struct fh_sandbox *b, struct fh_usage *ret);       /* of the sandbox so far */
void fh_limits_cpu(const struct fh_sandbox *b, struct fh_usage *ret); /* the same, of CPU time alone */
void fh_limits_hold(struct fh_process *p);                            /* its clocks stop */
void fh_limits_go_on(struct fh_process *p);
/* Whether a process whose resident memory grew to that was stopped by RLIMIT_DATA rather than by itself. */
bool fh_limits_met_data(const struct fh_sandbox *b, uint64_t resident_peak_bytes);
enum fh_enforced fh_limits_enforced(const struct fh_sandbox *b, enum fh_limit limit);
size_t fh_limits_rlimits(const struct fh_sandbox *b, struct fh_init_rlimit *ret); /* at most FH_INIT_RLIMITS_MAX */
