/* SPDX-License-Identifier: MIT */
/*
 * CPU time decides, and wall time is there for programs that wait. On a machine that gives a program a small share of a
 * processor the wall time limit comes first also for one that computes; it then gets as much longer as its share was
 * small, so that the same program gets the same verdict under load.
 */
#pragma once
#include "fumehood/sandbox.h"

/* What of a processor this thread gets at the moment, from 0 to 1: measured by computing for some milliseconds. */
double fh_share_measure(void);
/* How many times the wall time limit a program gets that came to it after `cpu_us` of CPU time, on a machine that gives
 * `share` of a processor: 1 when it waited for something else, and where the machine gives all that there is. */
unsigned fh_share_wall_factor(const struct fh_limits *limits, uint64_t cpu_us, double share);
enum { FH_SHARE_FACTOR_MAX = 16 };
