/* SPDX-License-Identifier: MIT */
/*
 * Connections to the store for handlers, which run on many threads: each takes one that reads, and gives it back. A few
 * are kept open, since opening one reads the schema and prepares the statements anew.
 */
#pragma once
#include <pthread.h>
#include "server/http.h"
#include "store/rows.h"

enum { FH_VIEW_STORES_KEPT = 6 };

struct fh_view_stores {
	pthread_mutex_t lock;
	char *path; /* NULL: the default */
	struct fh_store *idle[FH_VIEW_STORES_KEPT];
	size_t idle_count;
};

void fh_view_stores_init(struct fh_view_stores *p, FH_NULLABLE const char *path);
void fh_view_stores_release(struct fh_view_stores *p);
/* FH_E_NOT_FOUND: nothing was ever stored. */
int fh_view_stores_take(struct fh_view_stores *p, struct fh_store **ret, struct fh_error *err);
void fh_view_stores_give(struct fh_view_stores *p, FH_OWN FH_NULLABLE struct fh_store *s);

/* What most handlers begin with: a connection, and the eval that the first segment of the request names. False: it has
 * been replied to, and nothing is to be ended. */
struct fh_view_visit {
	struct fh_view_stores *stores;
	struct fh_store *store;
	struct fh_store_eval eval;
};
bool fh_view_visit(struct fh_http_request *r, struct fh_view_visit *ret);
bool fh_view_visit_named(struct fh_http_request *r, const char *id, struct fh_view_visit *ret);
void fh_view_visit_end(struct fh_view_visit *v);
#define fh_auto_visit FH_CLEANUP(fh_view_visit_end)

/* A connection that writes; the caller closes it. False: it has been replied to. */
bool fh_view_writable(struct fh_http_request *r, struct fh_store **ret);
