/* SPDX-License-Identifier: MIT */
/* One execution of one plan (run.c puts compiling in front of it). */
#pragma once
#include "sandbox/session/process.h"

/* Runs the plan as it is, whatever its `compile` says. Contract: fh_run. */
int fh_execute(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *o,
               struct fh_result **ret, struct fh_error *err);

/* Contract: fh_run_group. */
int fh_execute_group(struct fh_client *client, const struct fh_group *group, const struct fh_run_options *o,
                     struct fh_result **ret, struct fh_error *err);

/* ---- the input of a run (feed.c): a thread that hands bytes to a stream as credit allows ---- */

struct fh_feed {
	struct fh_connection *connection;
	struct fh_flow *stream;
	struct fh_str bytes; /* what to send, or: */
	int fd;              /* where to read it from; -1: bytes */
	bool stop;
	int stop_event;
	pthread_t thread;
	bool running;
};
int fh_feed_start(struct fh_feed *f, struct fh_error *err);
void fh_feed_stop(struct fh_feed *f); /* when it returns the thread is gone; one that never ran is fine */
