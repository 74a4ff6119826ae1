// SPDX-License-Identifier: MIT
#include "engine/cgroup_pool.h"

static struct fh_cgroup pop(struct fh_cgroup_pool *p)
{
	struct fh_cgroup g = p->idle[p->first];
	p->first = (p->first + 1) % FH_CGROUP_IDLE_MAX;
	p->count--;
	return g;
}

static void throw_away(struct fh_cgroup *g)
{
	if (!fh_cgroup_remove(g))
		fh_cgroup_abandon(g);
}

bool fh_cgroup_pool_take(struct fh_cgroup_pool *p, struct fh_cgroup *ret)
{
	while (p->count) {
		struct fh_cgroup g = pop(p);
		if (fh_cgroup_memory(&g) <= FH_CGROUP_LEFT_MAX && fh_cgroup_reset(&g)) {
			*ret = g;
			return true;
		}
		throw_away(&g);
	}
	return false;
}

bool fh_cgroup_pool_give(struct fh_cgroup_pool *p, struct fh_cgroup *g)
{
	if (p->count == FH_CGROUP_IDLE_MAX || !fh_cgroup_can_serve_again(g))
		return fh_cgroup_remove(g);
	if (fh_cgroup_is_busy(g))
		return false;
	p->idle[(p->first + p->count++) % FH_CGROUP_IDLE_MAX] = *g;
	*g = (struct fh_cgroup)FH_CGROUP_INIT;
	return true;
}

void fh_cgroup_pool_clear(struct fh_cgroup_pool *p)
{
	while (p->count) {
		struct fh_cgroup g = pop(p);
		throw_away(&g);
	}
}
