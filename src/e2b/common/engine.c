/* SPDX-License-Identifier: MIT */
#include "e2b/common/engine.h"

#include <poll.h>

#include "base/base.h"

bool fh_e2b_engine_is_dead(const struct fh_e2b_engine *e)
{
	struct pollfd p = { .fd = fh_client_descriptor(e->client), .events = POLLRDHUP };
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL));
}

bool fh_e2b_engines_alive(struct fh_e2b_engines *e)
{
	pthread_mutex_lock(&e->lock);
	bool alive = e->current && !fh_e2b_engine_is_dead(e->current);
	pthread_mutex_unlock(&e->lock);
	return alive;
}

void fh_e2b_engine_drop(struct fh_e2b_engine *e)
{
	if (!e || atomic_fetch_sub(&e->references, 1) != 1)
		return;
	fh_client_close(e->client);
	free(e);
}

int fh_e2b_engine_get(struct fh_e2b_engines *e, struct fh_e2b_engine **ret, struct fh_error *err)
{
	struct fh_client_options o = FH_CLIENT_OPTIONS_INIT;
	int r = 0;
	o.placement = "local";
	pthread_mutex_lock(&e->lock);
	if (e->current && fh_e2b_engine_is_dead(e->current))
		fh_e2b_engine_drop(FH_TAKE_PTR(e->current));
	if (!e->current) {
		struct fh_e2b_engine *fresh = FH_NEW(struct fh_e2b_engine);
		fresh->references = 1; /* reference held by e->current */
		r = fh_client_open(&o, &fresh->client, err);
		if (r == 0)
			e->current = fresh;
		else
			free(fresh);
	}
	if (r == 0) {
		atomic_fetch_add(&e->current->references, 1);
		*ret = e->current;
	}
	pthread_mutex_unlock(&e->lock);
	return r;
}
