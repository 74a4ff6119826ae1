/* SPDX-License-Identifier: MIT */
/*
 * The engine behind the server. It is started for the first sandbox, and a new one is started after it died.
 *
 * Engines are reference-counted; each sandbox holds a reference to the engine that made it, and ends when that engine
 * dies.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "fumehood/sandbox.h"

struct fh_e2b_engine {
	struct fh_client *client;
	atomic_int references;
};

/* The engine that makes new sandboxes. Initially zeroed, except for the lock: no engine was started. */
struct fh_e2b_engines {
	pthread_mutex_t lock;
	struct fh_e2b_engine *current;
};
/* Whether an engine lives that makes new sandboxes. */
bool fh_e2b_engines_alive(struct fh_e2b_engines *e);

/* A running engine, with a reference. */
int fh_e2b_engine_get(struct fh_e2b_engines *e, struct fh_e2b_engine **ret, struct fh_error *err);
void fh_e2b_engine_drop(struct fh_e2b_engine *e); /* drops a reference; NULL is fine */
bool fh_e2b_engine_is_dead(const struct fh_e2b_engine *e);
