/* SPDX-License-Identifier: MIT */
/*
 * The steps by which a sandbox is made, for callers that make one differently from fh_sandbox_make (warm/made.c). The
 * order is: new, take_room, start a child, list. If one of these fails, give_up replaces list. Once init runs, on_made
 * and is_ready follow.
 */
#pragma once
#include "engine/core/sandbox.h"

/* Creates the struct; nothing exists on the host yet. Takes ownership of the plan. */
FH_OWN struct fh_sandbox *fh_sandbox_new(struct fh_engine *e, const struct fh_owner *owner, FH_OWN struct fh_plan *plan,
                                         struct fh_connection *c, uint64_t request);
/* The limits of the sandbox's control groups according to the plan. */
struct fh_cgroup_limits fh_sandbox_group_limits(const struct fh_plan *plan);
/* Allocates its ids and makes its control groups with these limits. */
int fh_sandbox_take_room(struct fh_sandbox *b, const struct fh_cgroup_limits *limits, struct fh_error *err);
/* Starts the set-up child of a sandbox that is made from its plan alone. */
int fh_sandbox_launch_fresh(struct fh_sandbox *b, struct fh_error *err);
void fh_sandbox_watch_making(struct fh_sandbox *b); /* sets the deadline by which the sandbox has to be ready */
void fh_sandbox_watch_life(struct fh_sandbox *b);   /* call once the sandbox's init has a pidfd */
void fh_sandbox_list(struct fh_sandbox *b);
/* Frees a sandbox that is not listed yet; returns r. */
int fh_sandbox_give_up(struct fh_sandbox *b, int r, struct fh_error *err);
/* init runs: reads its isolation back from the kernel. */
void fh_sandbox_on_made(struct fh_sandbox *b);
/* A program can be started in the sandbox: tells its owner. */
void fh_sandbox_is_ready(struct fh_sandbox *b);
/* Tells init what to count (memory, sockets) from now on. */
int fh_sandbox_send_start(struct fh_sandbox *b, struct fh_error *err);
