/* SPDX-License-Identifier: MIT */
/* The pool of a template: its parked sandboxes, and the runs that wait for one. */
#pragma once
#include "engine/warm/template.h"

/* A run that waits for a parked sandbox, or for its turn (serve/queue.h); or a session that waits for such a sandbox.
 */
struct fh_deferred {
	struct fh_deferred *next;
	struct fh_plan *plan;
	bool stdin_open;   /* of a run */
	size_t window;     /* of a run */
	char name[64];     /* of a session's CREATE: its name; "": none */
	uint64_t lease_ms; /* of a session's CREATE: its lease; 0: none */
	struct fh_connection *connection;
	uint64_t request;
	/* Continues with that sandbox, which now belongs to the request. */
	void (*begin)(struct fh_sandbox *b, const struct fh_deferred *d);
};

void fh_pool_refill(struct fh_template *t);
/* Takes a parked sandbox out of the pool; NULL: there is none. */
struct fh_sandbox *fh_pool_take(struct fh_template *t);
void fh_pool_missed(struct fh_template *t); /* Notes that a request found the pool empty. */
/* Lets a request wait for a parked sandbox; takes ownership of its plan. Waiting requests are served in order. */
void fh_pool_wait(struct fh_template *t, const struct fh_deferred *d);
extern const struct fh_owner fh_pool_owner;
void fh_pool_look(struct fh_template *t); /* adapts the target to the load */
void fh_pool_clear(struct fh_template *t);
