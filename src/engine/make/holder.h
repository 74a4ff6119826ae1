/* SPDX-License-Identifier: MIT */
/*
 * The holder of a template (template.h): `fumehood-engine --holder`, started in the template's namespaces. It makes
 * sandboxes of the template: forks a child into new namespaces, which mounts what is the sandbox's own and becomes its
 * init (setup.c, fh_setup_own). The children are the engine's (CLONE_PARENT): it reaps them, and they outlive nobody.
 *
 * What it holds: all capabilities in the template's user namespace, none outside; a copy of the plan's park part; the
 * control socket and fumehood-init's image; network namespaces (netns.h); and, while it makes one, the descriptors of
 * that sandbox. It never sees a request: no program text, argument, file or output. No sandbox can name it: it is in
 * none of their pid namespaces, and under the base seccomp filter like everything of the template.
 *
 *     engine                                     holder                            child
 *     TEMPLATE + [init's image, plan]   ->
 *     MAKE + [init's socket, groups …]  ->       clone3 ──────────────────────▶   groups, mounts, user namespace
 *                                       <-       MADE + [pidfd]
 *                                                id maps, as root  ◀── "ids" ──
 *                                       <────────────────────────────────────────  exec, LAUNCHED (init/messages.h)
 *
 * One message a packet over a SOCK_SEQPACKET pair, fixed structs; both ends are the same program. The holder ends with
 * its socket, and with the template's anchor, whose pid namespace it is in.
 */
#pragma once
#include <stdint.h>
#include "engine/make/launch.h"
#include "engine/host/netns.h"

enum { FH_HOLDER_SOCKET = 3 };

enum fh_holder_op { FH_HOLDER_TEMPLATE = 1, FH_HOLDER_MAKE, FH_HOLDER_MADE };

struct fh_holder_template {
	uint32_t op;
	uint32_t ranges;   /* enum: ids in struct fh_ids */
	uint32_t uid, gid; /* one id, as the template's user namespace shows it */
	uint32_t sampling, counts_sockets;
	uint32_t zero;
	uint64_t plan_size; /* of the second descriptor, memory with the plan's wire form */
};

struct fh_holder_make {
	uint32_t op;
	uint32_t token;
	uint32_t first_id; /* ranges: of the sandbox's range in the template's user namespace */
	uint32_t into;     /* 1: the last descriptor is a v2 group's folder, to be born in */
	uint32_t entries;  /* descriptors, after init's socket, to each of which the child writes "0" */
	uint32_t over_count;
	uint8_t over[FH_NETNS_MAX]; /* places of network namespaces whose sandboxes are gone */
};

struct fh_holder_made {
	uint32_t op;
	uint32_t token;
	int32_t error;    /* of clone3; 0: the descriptor is its pidfd */
	uint32_t network; /* the place of its network namespace, from 1; 0: of its own alone, with nobody after it */
};

/* The program's main; returns its exit status. */
int fh_holder_main(void);
