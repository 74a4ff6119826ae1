/* SPDX-License-Identifier: MIT */
#include "view/stores.h"

#include "view/reply.h"
#include "view/state.h"

void fh_view_stores_init(struct fh_view_stores *p, FH_NULLABLE const char *path)
{
	*p = (struct fh_view_stores){ .path = path ? fh_xstrdup(path) : NULL };
	pthread_mutex_init(&p->lock, NULL);
}

void fh_view_stores_release(struct fh_view_stores *p)
{
	while (p->idle_count)
		fh_store_close(p->idle[--p->idle_count]);
	pthread_mutex_destroy(&p->lock);
	free(p->path);
}

int fh_view_stores_take(struct fh_view_stores *p, struct fh_store **ret, struct fh_error *err)
{
	for (;;) {
		struct fh_store *s = NULL;
		pthread_mutex_lock(&p->lock);
		if (p->idle_count)
			s = p->idle[--p->idle_count];
		pthread_mutex_unlock(&p->lock);
		if (!s)
			return fh_store_open(p->path, true, ret, err);
		if (fh_store_is_in_place(s)) {
			*ret = s;
			return 0;
		}
		fh_store_close(s);
	}
}

void fh_view_stores_give(struct fh_view_stores *p, FH_OWN FH_NULLABLE struct fh_store *s)
{
	pthread_mutex_lock(&p->lock);
	if (s && p->idle_count < FH_VIEW_STORES_KEPT)
		p->idle[p->idle_count++] = FH_TAKE_PTR(s);
	pthread_mutex_unlock(&p->lock);
	fh_store_close(s);
}

bool fh_view_visit_named(struct fh_http_request *r, const char *id, struct fh_view_visit *ret)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_view_visit v = { .stores = &((struct fh_view *)fh_http_context(r))->stores };
	int e = fh_view_stores_take(v.stores, &v.store, &err);
	if (e == 0)
		e = fh_store_find(v.store, id, &v.eval, &err);
	if (e == 0) {
		*ret = v;
		return true;
	}
	if (v.store)
		fh_view_stores_give(v.stores, v.store);
	fh_view_fail_from(r, &err);
	return false;
}

bool fh_view_visit(struct fh_http_request *r, struct fh_view_visit *ret)
{
	return fh_view_visit_named(r, fh_http_segment(r, 0), ret);
}

void fh_view_visit_end(struct fh_view_visit *v)
{
	if (!v->store)
		return;
	fh_store_eval_release(&v->eval);
	fh_view_stores_give(v->stores, FH_TAKE_PTR(v->store));
}

bool fh_view_writable(struct fh_http_request *r, struct fh_store **ret)
{
	struct fh_error err = FH_ERROR_INIT;
	const struct fh_view *v = fh_http_context(r);
	if (fh_store_open(v->stores.path, false, ret, &err) == 0)
		return true;
	fh_view_fail_from(r, &err);
	return false;
}
