/* SPDX-License-Identifier: MIT */
/*
 * The engine's event loop: descriptors (epoll) and timers (a heap of absolute deadlines), one thread.
 *
 * Watches and timers are members of the structs that use them. A callback may remove or free any watch or timer, its
 * own included. Memory that holds a watch is therefore freed by fh_loop_free, which waits until the current round of
 * events is over.
 */
#pragma once
#include "base/base.h"

struct fh_loop;

struct fh_watch {
	int fd;          /* -1: not in use */
	uint32_t events; /* EPOLL* bits to wait for */
	void (*on_event)(struct fh_watch *w, uint32_t events);
	void *owner;
	bool dead;   /* removed, but events of this round may still refer to it */
	bool looked; /* polled by the loop, because the kernel refused to watch it */
};

struct fh_timer {
	int64_t deadline_ns; /* monotonic; 0: not set */
	void (*on_time)(struct fh_timer *t);
	void *owner;
	size_t slot; /* index in the heap, from 1; 0: not set */
};

FH_OWN struct fh_loop *fh_loop_new(void); /* NULL: no descriptor is left */
void fh_loop_free_loop(struct fh_loop *l);

/* Starts to watch fd, or changes the events of a watch; events 0 suspends it. Where the kernel has no room for one more
 * watch (epoll_ctl(2): ENOSPC, ENOMEM) the loop polls the descriptor every few ms instead, so that no event is missed.
 * Returns false for a descriptor that cannot be waited for, such as a regular file. */
bool fh_watch_set(struct fh_loop *l, struct fh_watch *w, int fd, uint32_t events);
void fh_watch_stop(struct fh_loop *l, struct fh_watch *w); /* does not close fd */

/* Sets a timer's callback and owner, and stops it. Never assign to a timer: one that is set has its place in the
 * heap. */
void fh_timer_prepare(struct fh_loop *l, struct fh_timer *t, void (*on_time)(struct fh_timer *t), void *owner);
void fh_timer_set(struct fh_loop *l, struct fh_timer *t, int64_t deadline_ns);
void fh_timer_stop(struct fh_loop *l, struct fh_timer *t);

/* Calls free(p) once no pending event can point into it. */
void fh_loop_free(struct fh_loop *l, void *p);

/* Runs until *stop is not 0. */
void fh_loop_run(struct fh_loop *l, const int *stop);
/* Turns in which everything that was ready has been handled. Two calls of one timer may be in the same turn. */
uint64_t fh_loop_turns(const struct fh_loop *l);
