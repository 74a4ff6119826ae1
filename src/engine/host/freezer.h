/* SPDX-License-Identifier: MIT */
/* The freezer of control groups v1. A sandbox gets a group of it when it is first paused. */
#pragma once
#include "engine/host/cgroup.h"

struct fh_freezer {
	char path[512]; /* "": no group */
};
/* Makes the group in the frozen state. Returns 0 or -errno. */
int fh_freezer_make(struct fh_freezer *f, const struct fh_cgroup_host *h, const char *name);
int fh_freezer_members(const struct fh_freezer *f); /* opens its cgroup.procs for reading and writing; -errno */
int fh_freezer_state(const struct fh_freezer *f);   /* opens its freezer.state for reading; -errno */
void fh_freezer_set(const struct fh_freezer *f, bool frozen);
bool fh_freezer_remove(struct fh_freezer *f); /* Removes the group, after thawing it. False: it still has processes. */
