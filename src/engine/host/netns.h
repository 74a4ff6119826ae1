/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces that a template's holder makes ahead and gives out again (holder.h). Making one takes the kernel
 * longer than anything else in a sandbox, and so does taking it down.
 *
 * One is given out again only if the kernel's own figures of it are to the letter those of a new one: not a socket is
 * left, no packet crossed its loopback, no counter of any protocol moved, no IPv6 flow label stands. A program has no
 * capability over it (it belongs to the template's user namespace), so it cannot change its addresses, routes, rules or
 * settings, and what it can do with sockets shows in those figures; after a program that did, it is closed and a new
 * one made. That a namespace was used before shows in nothing but its number. No two living sandboxes share one.
 *
 * Needs /proc where the holder is; without one, and when all places are taken, each sandbox gets a new one by clone.
 */
#pragma once
#include "base/base.h"

enum { FH_NETNS_MAX = 32, FH_NETNS_FILES = 8, FH_NETNS_TEXT_MAX = 32 * 1024 };

struct fh_netns {
	int fd; /* -1: no namespace in this place */
	int file[FH_NETNS_FILES];
	bool given;
};

struct fh_netns_pool {
	struct fh_netns place[FH_NETNS_MAX];
	size_t fresh_size;
	char fresh[FH_NETNS_TEXT_MAX]; /* the figures of a new one */
	char now[FH_NETNS_TEXT_MAX];
};

void fh_netns_pool_init(struct fh_netns_pool *p);
/* The caller moves into one that nobody is in, its loopback up. Its place, to be given back; -1: there is none to be
 * had, and the caller is somewhere in the pool or where it was. */
int fh_netns_enter(struct fh_netns_pool *p);
/* Nobody is in it any more: every process of the sandbox is dead and reaped. */
void fh_netns_give_back(struct fh_netns_pool *p, size_t place);
/* Raises the loopback interface of the caller's namespace; 0 also where there is none. -errno. */
int fh_raise_loopback(void);
