/* SPDX-License-Identifier: MIT */
#include "e2b/service/turns.h"

#include "e2b/common/threads.h"

enum { LOOK_MS = 500 };

struct waiter {
	const struct fh_key *key;
	bool called;
	pthread_cond_t turn;
	struct waiter *next;
};

struct held {
	const struct fh_key *key;
	unsigned places, waiting;
};

struct fh_turns {
	pthread_mutex_t lock;
	unsigned places, queue_max; /* places: free ones */
	struct waiter *first;       /* list of waiting requests, in order of arrival */
	struct held *held;          /* an entry for each key that has or waits for a place */
	size_t held_count, held_capacity;
};

FH_OWN struct fh_turns *fh_turns_new(unsigned places, unsigned queue_max)
{
	struct fh_turns *t = FH_NEW(struct fh_turns);
	t->places = places;
	t->queue_max = queue_max;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void fh_turns_free(FH_OWN struct fh_turns *t)
{
	pthread_mutex_destroy(&t->lock);
	free(t->held);
	free(t);
}

/* The entry of this key, which is made if necessary. Valid until the next call. Called with the lock. */
static struct held *held_of(struct fh_turns *t, const struct fh_key *key)
{
	for (size_t i = 0; i < t->held_count; i++)
		if (t->held[i].key == key)
			return &t->held[i];
	FH_PUSH(t->held, t->held_count, t->held_capacity) = (struct held){ .key = key };
	return &t->held[t->held_count - 1];
}

static void forget_idle(struct fh_turns *t, struct held *h)
{
	if (!h->places && !h->waiting)
		*h = t->held[--t->held_count];
}

/* Gives free places to the waiters whose turn it is. Called with the lock. */
static void call_next(struct fh_turns *t)
{
	while (t->places) {
		struct waiter *best = NULL;
		for (struct waiter *w = t->first; w; w = w->next)
			if (!w->called && (!best || held_of(t, w->key)->places < held_of(t, best->key)->places))
				best = w;
		if (!best)
			return;
		best->called = true;
		t->places--;
		held_of(t, best->key)->places++;
		pthread_cond_signal(&best->turn);
	}
}

static void leave_queue(struct fh_turns *t, struct waiter *w)
{
	struct waiter **at = &t->first;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	held_of(t, w->key)->waiting--;
}

enum fh_turn fh_turns_take(struct fh_turns *t, const struct fh_key *key, bool (*gave_up)(const void *context),
                           const void *context)
{
	struct waiter w = { .key = key }, **end = &t->first;
	bool given_up = false;
	pthread_mutex_lock(&t->lock);
	struct held *h = held_of(t, key);
	if (h->waiting >= t->queue_max) {
		pthread_mutex_unlock(&t->lock);
		return FH_TURN_FULL;
	}
	h->waiting++;
	while (*end)
		end = &(*end)->next;
	*end = &w;
	fh_condition_init(&w.turn);
	call_next(t);
	while (!w.called && !given_up) {
		fh_wait_ms(&w.turn, &t->lock, LOOK_MS);
		given_up = !w.called && gave_up(context);
	}
	leave_queue(t, &w);
	if (given_up)
		forget_idle(t, held_of(t, key));
	pthread_mutex_unlock(&t->lock);
	pthread_cond_destroy(&w.turn);
	return given_up ? FH_TURN_GIVEN_UP : FH_TURN_TAKEN;
}

void fh_turns_done(struct fh_turns *t, const struct fh_key *key)
{
	pthread_mutex_lock(&t->lock);
	struct held *h = held_of(t, key);
	h->places--;
	t->places++;
	forget_idle(t, h);
	call_next(t);
	pthread_mutex_unlock(&t->lock);
}
