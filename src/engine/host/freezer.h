/* SPDX-License-Identifier: MIT */
/* The freezer of cgroup v1, in which a sandbox has a group once it is paused. */
#pragma once
#include "engine/host/cgroup.h"

struct fh_freezer {
	char path[512]; /* "": none */
};
int fh_freezer_make(struct fh_freezer *f, const struct fh_cgroup_host *h, const char *name); /* frozen; 0 or -errno */
int fh_freezer_members(const struct fh_freezer *f); /* its cgroup.procs, for reading and writing; -errno */
void fh_freezer_set(const struct fh_freezer *f, bool frozen);
bool fh_freezer_remove(struct fh_freezer *f); /* thaws it first. False: still busy */
