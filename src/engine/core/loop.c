/* SPDX-License-Identifier: MIT */
#include "engine/core/loop.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { EVENTS_MAX = 64, LOOK_NS = 5000000 };

struct fh_loop {
	int epoll;
	struct fh_timer **heap; /* heap[1…count], earliest first */
	size_t count, capacity;
	struct fh_watch **looked; /* polled, because the kernel refused to watch them */
	size_t looked_count, looked_capacity;
	void **garbage;
	size_t garbage_count, garbage_capacity;
	uint64_t turns;
};

struct fh_loop *fh_loop_new(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct fh_loop *l = FH_NEW(struct fh_loop);
	l->epoll = fd;
	return l;
}

static void sweep(struct fh_loop *l)
{
	for (size_t i = 0; i < l->garbage_count; i++)
		free(l->garbage[i]);
	l->garbage_count = 0;
}

void fh_loop_free_loop(struct fh_loop *l)
{
	if (!l)
		return;
	sweep(l);
	close(l->epoll);
	free(l->heap);
	free(l->looked);
	free(l->garbage);
	free(l);
}

void fh_loop_free(struct fh_loop *l, void *p)
{
	FH_PUSH(l->garbage, l->garbage_count, l->garbage_capacity) = p;
}

bool fh_watch_set(struct fh_loop *l, struct fh_watch *w, int fd, uint32_t events)
{
	if (events == 0) {
		fh_watch_stop(l, w);
		return true;
	}
	bool on = w->fd >= 0 && w->events;
	if (on && w->fd == fd && w->events == events)
		return true;
	struct epoll_event e = { .events = events, .data.ptr = w };
	bool looked = on && w->looked;
	if (!looked && epoll_ctl(l->epoll, on ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) < 0) {
		if (errno != ENOSPC && errno != ENOMEM)
			return false;
		if (on)
			epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
		FH_PUSH(l->looked, l->looked_count, l->looked_capacity) = w;
		w->looked = true;
	}
	w->fd = fd;
	w->events = events;
	w->dead = false;
	return true;
}

static void forget_looked(struct fh_loop *l, struct fh_watch *w)
{
	for (size_t i = 0; i < l->looked_count; i++)
		if (l->looked[i] == w)
			l->looked[i] = l->looked[--l->looked_count];
	w->looked = false;
}

void fh_watch_stop(struct fh_loop *l, struct fh_watch *w)
{
	if (w->looked)
		forget_looked(l, w);
	else if (w->fd >= 0 && w->events)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->events = 0;
	w->dead = true;
}

/* ---------------------------------------------------------------------------------------------------------- timers */

static void place(struct fh_loop *l, size_t i, struct fh_timer *t)
{
	l->heap[i] = t;
	t->slot = i;
}

static void sift_up(struct fh_loop *l, size_t i, struct fh_timer *t)
{
	for (; i > 1 && l->heap[i / 2]->deadline_ns > t->deadline_ns; i /= 2)
		place(l, i, l->heap[i / 2]);
	place(l, i, t);
}

static void sift_down(struct fh_loop *l, size_t i, struct fh_timer *t)
{
	for (size_t child; (child = 2 * i) <= l->count; i = child) {
		if (child < l->count && l->heap[child + 1]->deadline_ns < l->heap[child]->deadline_ns)
			child++;
		if (l->heap[child]->deadline_ns >= t->deadline_ns)
			break;
		place(l, i, l->heap[child]);
	}
	place(l, i, t);
}

void fh_timer_stop(struct fh_loop *l, struct fh_timer *t)
{
	size_t i = t->slot;
	t->deadline_ns = 0;
	t->slot = 0;
	if (!i)
		return;
	struct fh_timer *last = l->heap[l->count--];
	if (last == t)
		return;
	if (i > 1 && l->heap[i / 2]->deadline_ns > last->deadline_ns)
		sift_up(l, i, last);
	else
		sift_down(l, i, last);
}

void fh_timer_prepare(struct fh_loop *l, struct fh_timer *t, void (*on_time)(struct fh_timer *t), void *owner)
{
	fh_timer_stop(l, t);
	t->on_time = on_time;
	t->owner = owner;
}

void fh_timer_set(struct fh_loop *l, struct fh_timer *t, int64_t deadline_ns)
{
	fh_timer_stop(l, t);
	if (l->count + 2 > l->capacity) {
		l->capacity = l->capacity ? l->capacity * 2 : 64;
		l->heap = fh_xrealloc(l->heap, l->capacity, sizeof(*l->heap));
	}
	t->deadline_ns = deadline_ns;
	sift_up(l, ++l->count, t);
}

static void run_timers(struct fh_loop *l)
{
	int64_t now = fh_now_ns();
	while (l->count && l->heap[1]->deadline_ns <= now) {
		struct fh_timer *t = l->heap[1];
		fh_timer_stop(l, t);
		t->on_time(t);
	}
}

/* ------------------------------------------------------------------------------------------------------------- run */

/* poll(2) and epoll use the same numbers for events. A callback may stop any watch, which reorders the list, so each
 * round works on a copy; a watch that was stopped meanwhile is marked dead, and not yet freed. */
static void look(struct fh_loop *l)
{
	size_t n = l->looked_count;
	fh_auto_free struct fh_watch **watches = fh_xcalloc(n + 1, sizeof(struct fh_watch *));
	memcpy(watches, l->looked, n * sizeof(*watches));
	for (size_t i = 0; i < n; i++) {
		struct fh_watch *w = watches[i];
		if (!w->looked)
			continue;
		struct pollfd p = { .fd = w->fd, .events = (short)(w->events & (EPOLLIN | EPOLLOUT | EPOLLPRI)) };
		if (poll(&p, 1, 0) > 0 && p.revents)
			w->on_event(w, (uint32_t)p.revents);
	}
}

static int wait_events(struct fh_loop *l, struct epoll_event *events)
{
	if (!l->count && !l->looked_count)
		return epoll_wait(l->epoll, events, EVENTS_MAX, -1);
	int64_t left = l->count ? l->heap[1]->deadline_ns - fh_now_ns() : LOOK_NS;
	if (left < 0)
		left = 0;
	if (l->looked_count)
		left = FH_MIN(left, (int64_t)LOOK_NS);
	struct timespec t = { left / FH_NS_PER_S, left % FH_NS_PER_S };
	int n = epoll_pwait2(l->epoll, events, EVENTS_MAX, &t, NULL);
	if (n < 0 && errno == ENOSYS) /* before Linux 5.11 the timeout is rounded to the next ms */
		n = epoll_wait(l->epoll, events, EVENTS_MAX, (int)FH_MIN(left / FH_NS_PER_MS + 1, 1 << 30));
	return n;
}

void fh_loop_run(struct fh_loop *l, const int *stop)
{
	struct epoll_event events[EVENTS_MAX];
	while (!*stop) {
		int n = wait_events(l, events);
		for (int i = 0; i < n; i++) {
			struct fh_watch *w = events[i].data.ptr;
			if (!w->dead)
				w->on_event(w, events[i].events);
		}
		if (l->looked_count)
			look(l);
		if (n >= 0 && n < EVENTS_MAX)
			l->turns++;
		run_timers(l);
		sweep(l);
	}
}

uint64_t fh_loop_turns(const struct fh_loop *l)
{
	return l->turns;
}
