/* SPDX-License-Identifier: MIT */
/*
 * The steps by which a sandbox is made, for those who make one in another way than fh_sandbox_make (warm/made.c). In
 * this order: new, take_room, (a child is started), list; give_up instead of list when one of them failed; then, once
 * init runs, on_made and is_ready.
 */
#pragma once
#include "engine/core/sandbox.h"

/* Nothing of it is on the host yet. The plan becomes the sandbox's. */
FH_OWN struct fh_sandbox *fh_sandbox_new(struct fh_engine *e, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                                         struct fh_connection *c, uint64_t request);
/* The limits that its control groups have by that plan. */
struct fh_cgroup_limits fh_sandbox_group_limits(const struct fh_plan *plan);
/* Its ids and its control groups, with these limits. */
int fh_sandbox_take_room(struct fh_sandbox *b, const struct fh_cgroup_limits *limits, struct fh_error *err);
/* Starts the set-up child of one that is made of its plan alone. */
int fh_sandbox_launch_fresh(struct fh_sandbox *b, struct fh_error *err);
void fh_sandbox_watch_making(struct fh_sandbox *b); /* from now on it has a deadline */
void fh_sandbox_watch_life(struct fh_sandbox *b);   /* its init has a pidfd */
void fh_sandbox_list(struct fh_sandbox *b);
/* Frees one that is nowhere listed; returns r. */
int fh_sandbox_give_up(struct fh_sandbox *b, int r, struct fh_error *err);
/* init runs, and the kernel shows what it is made of. */
void fh_sandbox_on_made(struct fh_sandbox *b);
/* Everything that a request needs is there: tells its owner. */
void fh_sandbox_is_ready(struct fh_sandbox *b);
/* Tells init how to count from here on. */
int fh_sandbox_send_start(struct fh_sandbox *b, struct fh_error *err);
