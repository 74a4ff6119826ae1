/* SPDX-License-Identifier: MIT */
/* The file system that a program sees, as mounts of a plan, before anything of its own is added. */
#pragma once
#include "proto/plan.h"

/* The default image: the host's programs, read-only, from an explicit list; generated files of /etc that name nobody
 * of the host; private /proc, /dev, /tmp and home. What was found on the host serves a process for a second. */
void fh_layout_host(struct fh_plan *plan);
/* A directory as root: its own files, with the sandbox's user added to its passwd and group. `image` is open and is
 * plan->image. */
int fh_layout_image(struct fh_plan *plan, int image, struct fh_error *err);

/* The home of the plan's user: "/home/user" or "/root". */
const char *fh_layout_home(const struct fh_plan *plan);

/* Covers, at their places inside, the folders that the patterns name. {prefix} in a pattern stands for each of
 * `prefixes`; what `keep` names below a covered folder stays visible. */
void fh_layout_hide(struct fh_plan *plan, char *const *patterns, char *const *keep, char *const *prefixes);
