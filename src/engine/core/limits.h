/* SPDX-License-Identifier: MIT */
/* Limits of time and output, and the usage of a sandbox (docs/limits.md). */
#pragma once
#include "engine/core/process/process.h"

void fh_limits_start(struct fh_process *p);
void fh_limits_stop(struct fh_process *p);
/* records that the limit was reached; ends the process or the sandbox if this limit is one that does so */
void fh_limits_fire(struct fh_process *p, enum fh_limit limit);
void fh_limits_use(struct fh_sandbox *b, struct fh_usage *ret);       /* the sandbox's usage so far */
void fh_limits_counts(struct fh_sandbox *b, struct fh_usage *ret);    /* the same without CPU time */
void fh_limits_tasks(struct fh_sandbox *b, struct fh_usage *ret);     /* its number of processes alone */
void fh_limits_cpu(const struct fh_sandbox *b, struct fh_usage *ret); /* like fh_limits_use, for CPU time only */
void fh_limits_hold(struct fh_process *p);                            /* stops the process's clocks */
void fh_limits_go_on(struct fh_process *p);
