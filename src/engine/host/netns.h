/* SPDX-License-Identifier: MIT */
/*
 * A pool of network namespaces that a template's holder makes ahead and reuses (holder.h). Creating one, and destroying
 * it, takes the kernel longer than anything else in a sandbox.
 *
 * A namespace is reused only if the kernel's statistics for it are byte for byte those of a new one: no socket is left,
 * no packet crossed its loopback, no counter of any protocol changed, no IPv6 flow label exists. A program has no
 * capability over it (it belongs to the template's user namespace), so the program cannot change addresses, routes,
 * rules or settings; whatever it can do with sockets shows in those statistics. A namespace that a program did use is
 * closed, and a new one is made. So a reused namespace differs from a new one in nothing but its inode number. No two
 * live sandboxes share one.
 *
 * This needs /proc in the holder's root. Without it, and when all places are taken, a sandbox gets a new namespace by
 * clone.
 */
#pragma once
#include "base/base.h"

enum { FH_NETNS_MAX = 32, FH_NETNS_FILES = 8, FH_NETNS_TEXT_MAX = 32 * 1024 };

struct fh_netns {
	int fd; /* -1: this place is empty */
	int file[FH_NETNS_FILES];
	bool given;
};

struct fh_netns_pool {
	struct fh_netns place[FH_NETNS_MAX];
	size_t fresh_size;
	char fresh[FH_NETNS_TEXT_MAX]; /* the statistics of a new namespace */
	char now[FH_NETNS_TEXT_MAX];
};

void fh_netns_pool_init(struct fh_netns_pool *p);
/* Moves the caller into an unused namespace whose loopback interface is up. Returns its place, for fh_netns_give_back;
 * -1: none is available, and the caller is in a namespace of the pool or in its previous one. */
int fh_netns_enter(struct fh_netns_pool *p);
/* To be called when every process of the sandbox is dead and reaped. */
void fh_netns_give_back(struct fh_netns_pool *p, size_t place);
/* Brings up the loopback interface of the caller's namespace. 0, also if there is no such interface; or -errno. */
int fh_raise_loopback(void);
