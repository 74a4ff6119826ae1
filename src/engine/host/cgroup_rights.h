/* SPDX-License-Identifier: MIT */
/*
 * Which control group of a v2 hierarchy is ours to make groups in.
 *
 * A group that can be written to is not for that reason ours: a user may write to everything below user@UID.service,
 * which the user's service manager keeps for itself, and moving processes about there pulls a terminal's session from
 * under it. A group is ours when
 * - it is marked as delegated: systemd sets the extended attribute user.delegate, and on units of the system
 *   trusted.delegate, to "1" for Delegate=yes (systemd's CGROUP_DELEGATION; user.delegate since systemd 251), or
 * - it is the root of our cgroup namespace, and what is mounted: a container's, or
 * - it is the uppermost that belongs to our uid, and no service manager made it: how cgroup-v2.rst ("Model of
 * Delegation") says that a group is handed to a user. The first of these on the way from our own group up counts. The
 * way ends before at a group that a service manager made and did not delegate, and at the root of the hierarchy.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fh_cgroup_level {
	const char *name; /* of its folder */
	uid_t owner;
	bool delegated;         /* marked so */
	bool root_of_namespace; /* of ours */
	bool root_of_hierarchy; /* of the host's, which is nobody's */
};

enum { FH_CGROUP_NOT_OURS = -1, FH_CGROUP_LEVELS_MAX = 32 };

/* The number of the level that is ours, or FH_CGROUP_NOT_OURS. levels[0] is the group that we are in, each next one the
 * one above it. us: our uid, as the owners are told. */
int fh_cgroup_ours(const struct fh_cgroup_level *levels, size_t n, uid_t us);

/* Looks at the host: dir, the folder of our own group, and those above it up to and with mount. mount_is_root: what is
 * mounted begins at the root of our cgroup namespace, or of our container. Shortens dir to the folder of the level that
 * is ours and returns how many levels up that is; FH_CGROUP_NOT_OURS: none is. */
int fh_cgroup_find_ours(char *dir, const char *mount, bool mount_is_root);
