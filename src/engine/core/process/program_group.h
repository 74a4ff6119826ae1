/* SPDX-License-Identifier: MIT */
/*
 * The control group of one program of a session, below the sandbox's group. With it, limits and signals reach that
 * program and what it starts, and nothing else. The program of a run needs none, since it has the sandbox to itself; a
 * helper of init needs none, since it starts nothing.
 *
 * To make and remove a group takes the kernel longer than a short program runs. So the group of a program that ended
 * and left nothing is kept as a spare for the next one, which is told what it used itself (base of struct fh_process).
 *
 * Processes that a program leaves in the background keep its group busy after its end. The sandbox keeps such groups in
 * left_groups and removes them when the next program starts or the sandbox ends.
 */
#pragma once
#include "engine/core/sandbox.h"

/* Returns 0 too where the program needs no group, or can do without one: its process group is used then. */
int fh_program_group_make(struct fh_process *p, const struct fh_spawn *s, struct fh_error *err);
/* To be called when the program has ended and its usage is known. own_kills: how many of its processes the kernel has
 * killed for lack of memory. */
void fh_program_group_end(struct fh_process *p, uint64_t own_kills);
void fh_program_group_drop(struct fh_process *p);
bool fh_program_groups_remove(
    struct fh_sandbox *b); /* removes spares and left_groups; false: some still have processes */
