/* SPDX-License-Identifier: MIT */
/*
 * The CPU time limit is meant to decide, and the wall time limit is for programs that wait. On a loaded machine, which
 * gives a program only a small share of a processor, a program that computes may reach the wall time limit first. Its
 * wall time limit is then raised in proportion, so that the verdict is the same under load.
 */
#pragma once
#include "fumehood/sandbox.h"

/* The share of a processor that this thread gets at the moment, from 0 to 1; measured by computing for some
 * milliseconds. */
double fh_share_measure(void);
/* The factor for the wall time limit of a program that reached it after `cpu_us` of CPU time, on a machine that gives
 * `share` of a processor. 1: the program waited for something else, or the machine is not loaded. */
unsigned fh_share_wall_factor(const struct fh_limits *limits, uint64_t cpu_us, double share);
enum { FH_SHARE_FACTOR_MAX = 16 };
