/* SPDX-License-Identifier: MIT */
/*
 * Finds the control group of a v2 hierarchy in which we may make groups.
 *
 * That a group is writable does not make it ours: a user may write to everything below user@UID.service, but the user's
 * service manager manages those groups, and moving processes there takes a terminal's session away from it. A group is
 * ours when
 * - it is marked as delegated: systemd sets the extended attribute user.delegate, and on units of the system
 *   trusted.delegate, to "1" for Delegate=yes (systemd's CGROUP_DELEGATION; user.delegate since systemd 251), or
 * - it is the root of our cgroup namespace and of the mount, as in a container, or
 * - it is the uppermost that our uid owns, and was not made by a service manager; cgroup-v2.rst ("Model of
 * Delegation") describes this way to delegate a group to a user. The search goes from our own group upwards and takes
 * the first that fits. It stops at a group that a service manager made and did not delegate, and at the root of the
 * hierarchy.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fh_cgroup_level {
	const char *name; /* name of the group's folder */
	uid_t owner;
	bool delegated;         /* the folder has the extended attribute that marks it as delegated */
	bool root_of_namespace; /* this group is the root of our cgroup namespace */
	bool root_of_hierarchy; /* this group is the root of the whole hierarchy, which is never ours */
};

enum { FH_CGROUP_NOT_OURS = -1, FH_CGROUP_LEVELS_MAX = 32 };

/* The index of the level that is ours, or FH_CGROUP_NOT_OURS. levels[0] is the group that we are in, and each level is
 * the parent of the one before. us: our uid. */
int fh_cgroup_ours(const struct fh_cgroup_level *levels, size_t n, uid_t us);

/* Applies fh_cgroup_ours to the host: dir is the folder of our own group, mount the top to search. mount_is_root: the
 * mount begins at the root of our cgroup namespace or container. Shortens dir to the folder that is ours and returns
 * how many levels up it is, or FH_CGROUP_NOT_OURS. */
int fh_cgroup_find_ours(char *dir, const char *mount, bool mount_is_root);
