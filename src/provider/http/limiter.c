/* SPDX-License-Identifier: MIT */
#include "provider/http/limiter.h"

#include <pthread.h>
#include "base/clock.h"

#define FH_LIMITER_START 256
#define FH_LIMITER_SLOW 8 /* how much slower `allowed` rises where the last 429 came */
#define FH_LIMITER_TICK_NS (20 * FH_NS_PER_MS)

struct fh_limiter_state {
	pthread_mutex_t lock;
	double allowed;
	double refused_at; /* how many were under way when the last 429 came */
	unsigned under_way;
	int64_t not_before; /* no request begins before this time (monotonic ns) */
	int64_t cut;        /* when `allowed` was last halved; a 429 to a request begun before does not halve it again */
	bool fixed;         /* the user fixed the number; it does not adapt */
};

void fh_limiter_init(struct fh_limiter *l)
{
	const char *off = getenv("PROMPTFOO_DISABLE_ADAPTIVE_SCHEDULER");
	struct fh_limiter_state *s = FH_NEW(struct fh_limiter_state);
	pthread_mutex_init(&s->lock, NULL);
	s->allowed = FH_LIMITER_START;
	s->refused_at = FH_LIMITER_START + 1;
	s->fixed = off && (fh_streq(off, "1") || fh_streq(off, "true"));
	l->state = s;
}

void fh_limiter_release(struct fh_limiter *l)
{
	struct fh_limiter_state *s = l->state;
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
	l->state = NULL;
}

int fh_limiter_enter(struct fh_limiter *l, const volatile int *cancel, int64_t *ret_begun, struct fh_error *err)
{
	struct fh_limiter_state *s = l->state;
	for (;;) {
		if (cancel && *cancel)
			return fh_error_set(err, FH_E_CANCELLED, "cancelled");
		int64_t now = fh_now_ns();
		pthread_mutex_lock(&s->lock);
		bool free_now = now >= s->not_before && (double)s->under_way < s->allowed;
		int64_t wait = now < s->not_before ? s->not_before - now : FH_LIMITER_TICK_NS;
		s->under_way += free_now;
		pthread_mutex_unlock(&s->lock);
		if (free_now) {
			*ret_begun = now;
			return 0;
		}
		fh_sleep_ns(FH_MIN(wait, FH_LIMITER_TICK_NS));
	}
}

void fh_limiter_leave(struct fh_limiter *l, int64_t begun, bool limited)
{
	struct fh_limiter_state *s = l->state;
	pthread_mutex_lock(&s->lock);
	if (limited && begun >= s->cut && !s->fixed) {
		double together = FH_MIN((double)s->under_way, s->allowed);
		s->allowed = FH_MAX(together / 2, 1.0);
		s->refused_at = together;
		s->cut = fh_now_ns();
	} else if (!limited) {
		double step = 1 / s->allowed / (s->allowed >= s->refused_at - 1 ? FH_LIMITER_SLOW : 1);
		s->allowed = FH_MIN(s->allowed + step, (double)FH_LIMITER_START);
	}
	s->under_way--;
	pthread_mutex_unlock(&s->lock);
}

void fh_limiter_hold(struct fh_limiter *l, uint64_t ms)
{
	struct fh_limiter_state *s = l->state;
	int64_t until = fh_now_ns() + (int64_t)FH_MIN(ms, (uint64_t)INT32_MAX) * FH_NS_PER_MS;
	pthread_mutex_lock(&s->lock);
	s->not_before = FH_MAX(s->not_before, until);
	pthread_mutex_unlock(&s->lock);
}

unsigned fh_limiter_allowed(struct fh_limiter *l)
{
	struct fh_limiter_state *s = l->state;
	pthread_mutex_lock(&s->lock);
	unsigned n = (unsigned)s->allowed;
	pthread_mutex_unlock(&s->lock);
	return n;
}
