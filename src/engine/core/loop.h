/* SPDX-License-Identifier: MIT */
/*
 * The engine's event loop: descriptors (epoll) and timers (a heap of absolute deadlines), one thread.
 *
 * Watches and timers are embedded in what they serve. A callback may remove or free any watch or timer, its own too:
 * memory that holds a watch is given back by fh_loop_free, which waits until the current round of events is over.
 */
#pragma once
#include "base/base.h"

struct fh_loop;

struct fh_watch {
	int fd;          /* -1: not watched */
	uint32_t events; /* EPOLL* that are asked for */
	void (*on_event)(struct fh_watch *w, uint32_t events);
	void *owner;
	bool dead;   /* removed while events of it may be pending */
	bool looked; /* the loop looks at it by itself, since the kernel would not watch it */
};

struct fh_timer {
	int64_t deadline_ns; /* monotonic; 0: not set */
	void (*on_time)(struct fh_timer *t);
	void *owner;
	size_t slot; /* in the heap, from 1; 0: not in it */
};

FH_OWN struct fh_loop *fh_loop_new(void); /* NULL when there is no descriptor left */
void fh_loop_free_loop(struct fh_loop *l);

/* Starts watching fd, or changes the events of a watch that is on. events 0 stops. Where the kernel has no room for one
 * more watch (epoll_ctl(2): ENOSPC, ENOMEM) the loop looks at it every few ms instead: slower, but nothing that ends is
 * missed. False: such a descriptor cannot be waited for (a regular file). */
bool fh_watch_set(struct fh_loop *l, struct fh_watch *w, int fd, uint32_t events);
void fh_watch_stop(struct fh_loop *l, struct fh_watch *w); /* does not close */

/* Says what a timer is for, stopped. Never by assigning to it: one that is set has its place in the loop. */
void fh_timer_prepare(struct fh_loop *l, struct fh_timer *t, void (*on_time)(struct fh_timer *t), void *owner);
void fh_timer_set(struct fh_loop *l, struct fh_timer *t, int64_t deadline_ns);
void fh_timer_stop(struct fh_loop *l, struct fh_timer *t);

/* free(p), once no pending event can point into it. */
void fh_loop_free(struct fh_loop *l, void *p);

/* Runs until *stop is not 0. */
void fh_loop_run(struct fh_loop *l, const int *stop);
