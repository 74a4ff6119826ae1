/* SPDX-License-Identifier: MIT */
/*
 * A pool of read-only connections to the store for handlers, which run on many threads. A few stay open, since opening
 * one reads the schema and prepares the statements.
 */
#pragma once
#include <pthread.h>
#include "server/http.h"
#include "store/rows.h"

enum { FH_VIEW_STORES_KEPT = 6 };

struct fh_view_stores {
	pthread_mutex_t lock;
	char *path; /* path of the store; NULL: the default */
	struct fh_store *idle[FH_VIEW_STORES_KEPT];
	size_t idle_count;
};

void fh_view_stores_init(struct fh_view_stores *p, FH_NULLABLE const char *path);
void fh_view_stores_release(struct fh_view_stores *p);
/* Takes a connection. FH_E_NOT_FOUND: there is no store yet. */
int fh_view_stores_take(struct fh_view_stores *p, struct fh_store **ret, struct fh_error *err);
void fh_view_stores_give(struct fh_view_stores *p, FH_OWN FH_NULLABLE struct fh_store *s);

/* Used at the beginning of most handlers: a connection, and the eval that the request's first segment names. False: it
 * has replied with an error, and there is nothing to release. */
struct fh_view_visit {
	struct fh_view_stores *stores;
	struct fh_store *store;
	struct fh_store_eval eval;
};
bool fh_view_visit(struct fh_http_request *r, struct fh_view_visit *ret);
bool fh_view_visit_named(struct fh_http_request *r, const char *id, struct fh_view_visit *ret);
void fh_view_visit_end(struct fh_view_visit *v);
#define fh_auto_visit FH_CLEANUP(fh_view_visit_end)

/* Opens a connection for writing, which the caller closes. False: it has replied with an error. */
bool fh_view_writable(struct fh_http_request *r, struct fh_store **ret);
