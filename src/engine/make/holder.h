/* SPDX-License-Identifier: MIT */
/*
 * The holder of a template (template.h): `fumehood-engine --holder`, started in the template's namespaces. It makes the
 * template's sandboxes: it forks a child into new namespaces, which mounts the sandbox's own part of the root and
 * becomes its init (setup.c, fh_setup_own). The child is cloned with CLONE_PARENT: the engine reaps it, and it dies
 * with the engine.
 *
 * It holds all capabilities in the template's user namespace and none outside; a copy of the plan's park part (the part
 * that is the same for all sandboxes of a template); the control socket and fumehood-init's image; network namespaces
 * (netns.h); and, while it makes a sandbox, the descriptors of that sandbox. It never sees a request: no program text,
 * argument, file or output. No sandbox can address it, since it is in none of their pid namespaces. It runs under the
 * base seccomp filter, like all processes of the template.
 *
 *     engine                                     holder                            child
 *     TEMPLATE + [init's image, plan]   ->
 *     MAKE + [init's socket, groups …]  ->       clone3 ──────────────────────▶   groups, mounts, user namespace
 *                                       <-       MADE + [pidfd]
 *                                                id maps, as root  ◀── "ids" ──
 *                                       <────────────────────────────────────────  exec, LAUNCHED (init/messages.h)
 *
 * Each message is one fixed struct in one packet of a SOCK_SEQPACKET pair; both ends are the same program. The holder
 * ends when its socket is closed, and with the template's anchor, which is pid 1 of its namespace.
 */
#pragma once
#include <stdint.h>
#include "engine/make/launch.h"
#include "engine/host/netns.h"

enum { FH_HOLDER_SOCKET = 3 };

enum fh_holder_op { FH_HOLDER_TEMPLATE = 1, FH_HOLDER_MAKE, FH_HOLDER_MADE };

struct fh_holder_template {
	uint32_t op;
	uint32_t ranges;   /* as in struct fh_ids */
	uint32_t uid, gid; /* without ranges: the single id, as seen in the template's user namespace */
	uint32_t zero;
	uint64_t plan_size; /* the message's second descriptor is memory with the plan, encoded as in frames */
};

struct fh_holder_make {
	uint32_t op;
	uint32_t token;
	uint32_t first_id; /* with ranges: the first id of the sandbox's range, as seen in the template's user namespace */
	uint32_t into;     /* 1: the last descriptor is the folder of a v2 group to clone into */
	/* number of descriptors after init's socket; the child writes "0" to each, which moves it into a v1 group */
	uint32_t entries;
	uint32_t over_count;
	/* numbers of the network namespaces whose sandboxes have ended and that may be reused (netns.h) */
	uint8_t over[FH_NETNS_MAX];
};

struct fh_holder_made {
	uint32_t op;
	uint32_t token;
	int32_t error;    /* errno of clone3; 0: the packet carries the child's pidfd */
	uint32_t network; /* the place of its network namespace, from 1; 0: a namespace that is not reused */
};

/* Runs the holder; returns its exit status. */
int fh_holder_main(void);
