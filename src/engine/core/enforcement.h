/* SPDX-License-Identifier: MIT */
/* How strictly each limit is enforced on this host (docs/limits.md), and the rlimits that do so where control groups do
 * not, or as well. */
#pragma once
#include "fumehood/sandbox.h"
#include "init/messages.h"

struct fh_sandbox;

enum fh_enforced fh_limits_enforced(const struct fh_sandbox *b, enum fh_limit limit);
/* Whether RLIMIT_DATA stopped a process, judged by the peak of its resident memory. */
bool fh_limits_met_data(const struct fh_sandbox *b, uint64_t resident_peak_bytes);
/* Writes the sandbox's rlimits to ret, at most FH_INIT_RLIMITS_MAX; returns their number. */
size_t fh_limits_rlimits(const struct fh_sandbox *b, struct fh_init_rlimit *ret);
