/* SPDX-License-Identifier: MIT */
/* The pool of a template: its parked sandboxes, and the runs that wait for one. */
#pragma once
#include "engine/warm/template.h"

/* A run that waits for a parked sandbox, or for its turn (serve/queue.h). */
struct fh_deferred {
	struct fh_deferred *next;
	struct fh_plan *plan;
	bool stdin_open;
	size_t window;
	struct fh_connection *connection;
	uint64_t request;
	/* The run goes on with that sandbox, which is its own now. */
	void (*begin)(struct fh_sandbox *b, const struct fh_deferred *d);
};

void fh_pool_refill(struct fh_template *t);
struct fh_sandbox *fh_pool_take(struct fh_template *t);                /* NULL: none there */
void fh_pool_missed(struct fh_template *t);                            /* a request found none */
void fh_pool_wait(struct fh_template *t, const struct fh_deferred *d); /* takes its plan; served in turn */
extern const struct fh_owner fh_pool_owner;
void fh_pool_look(struct fh_template *t); /* adapts the target */
void fh_pool_clear(struct fh_template *t);
