/* SPDX-License-Identifier: MIT */
/* One execution of one plan (run.c compiles the program before). */
#pragma once
#include "sandbox/session/process.h"

/* Runs the plan without regard to its `compile`. Contract: fh_run. */
int fh_execute(struct fh_client *client, const struct fh_plan *plan, const struct fh_run_options *o,
               struct fh_result **ret, struct fh_error *err);

/* Contract: fh_run_group. */
int fh_execute_group(struct fh_client *client, const struct fh_group *group, const struct fh_run_options *o,
                     struct fh_result **ret, struct fh_error *err);

/* ---- the input of a run (feed.c): a thread that sends bytes to a stream as its credit allows ---- */

struct fh_feed {
	struct fh_connection *connection;
	struct fh_flow *stream;
	struct fh_str bytes; /* the bytes to send, if fd is -1 */
	int fd;              /* the descriptor to read the input from; -1: send `bytes` */
	bool stop;
	int stop_event;
	pthread_t thread;
	bool running;
};
int fh_feed_start(struct fh_feed *f, struct fh_error *err);
void fh_feed_stop(struct fh_feed *f); /* waits for the thread to end; may be called if it never ran */
