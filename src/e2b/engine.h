/* SPDX-License-Identifier: MIT */
/*
 * The engine behind the server: started when the first sandbox is asked for, and once more when it has died.
 *
 * An engine is counted; each sandbox holds a reference to the one that made it. What an engine made dies with it, and
 * nothing else does.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "fumehood/sandbox.h"

struct fh_e2b_engine {
	struct fh_client *client;
	atomic_int references;
};

/* The one that sandboxes are made by now. Zeroed but for the lock: none was needed yet. */
struct fh_e2b_engines {
	pthread_mutex_t lock;
	struct fh_e2b_engine *current;
};

/* A living one, with a reference. */
int fh_e2b_engine_get(struct fh_e2b_engines *e, struct fh_e2b_engine **ret, struct fh_error *err);
void fh_e2b_engine_drop(struct fh_e2b_engine *e); /* NULL is fine */
bool fh_e2b_engine_is_dead(const struct fh_e2b_engine *e);
