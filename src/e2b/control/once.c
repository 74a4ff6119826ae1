/* SPDX-License-Identifier: MIT */
#include "e2b/control/once.h"

#include <pthread.h>

struct under_way {
	const struct fh_key *owner;
	const char *key;
	struct under_way *next;
};

struct fh_once {
	pthread_mutex_t lock;
	pthread_cond_t left;
	struct under_way *first;
};

struct fh_once *fh_once_new(void)
{
	struct fh_once *o = FH_NEW(struct fh_once);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->left, NULL);
	return o;
}

void fh_once_free(struct fh_once *o)
{
	if (!o)
		return;
	pthread_cond_destroy(&o->left);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static struct under_way **find(struct fh_once *o, const struct fh_key *owner, const char *key)
{
	for (struct under_way **at = &o->first; *at; at = &(*at)->next)
		if ((*at)->owner == owner && strcmp((*at)->key, key) == 0)
			return at;
	return NULL;
}

void fh_once_enter(struct fh_once *o, const struct fh_key *owner, const char *key)
{
	struct under_way *u = FH_NEW(struct under_way);
	u->owner = owner;
	u->key = key;
	pthread_mutex_lock(&o->lock);
	while (find(o, owner, key))
		pthread_cond_wait(&o->left, &o->lock);
	u->next = o->first;
	o->first = u;
	pthread_mutex_unlock(&o->lock);
}

void fh_once_leave(struct fh_once *o, const struct fh_key *owner, const char *key)
{
	pthread_mutex_lock(&o->lock);
	struct under_way **at = find(o, owner, key), *u = *at;
	*at = u->next;
	pthread_cond_broadcast(&o->left);
	pthread_mutex_unlock(&o->lock);
	free(u);
}
