/* SPDX-License-Identifier: MIT */
/*
 * A user namespace of the engine's own, for root of a container. Docker and Kubernetes give root there no
 * CAP_SYS_ADMIN: it may make a user namespace, but no other kind. In one of its own, in which every id is the same as
 * outside (user_namespaces(7)), the engine has all capabilities, and works as root does on a host: each sandbox has its
 * range of ids.
 *
 * This takes CAP_SETUID, CAP_SETGID and CAP_SETFCAP, which Docker gives to root by default; refusal.h tells who lacks
 * them.
 */
#pragma once
#include <stdbool.h>

#include "base/error.h"

/* Enters such a namespace if this process needs one and may make it; otherwise changes nothing: root of a container
 * that has some of the host's ids alone has one id for its sandboxes, as a user has. To be called while the process has
 * one thread and no children. -FH_E_SYSTEM: the process is in a namespace without ids, and cannot go on. */
int fh_own_namespace_enter(struct fh_error *err);
/* Whether this process entered one. */
bool fh_own_namespace_entered(void);
