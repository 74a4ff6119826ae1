/* SPDX-License-Identifier: MIT */
/* The state of one execution, shared by execute.c and execute_group.c. Zero it, then call fh_execution_init and finally
 * fh_execution_release. */
#pragma once
#include "sandbox/run.h"

struct fh_execution_out {
	struct fh_flow stream;
	struct fh_buf data;
	char *refused;
};

struct fh_execution {
	struct fh_call call; /* the RUN request; for a session, first its SPAWN and then its WAIT */
	struct fh_client *client;
	const struct fh_plan *plan;
	struct fh_run_options o;
	bool session;
	struct fh_started started;
	struct fh_execution_out *outs;
	size_t out_count;
	struct fh_buf collected[FH_STREAM_COUNT_];
	bool cut[FH_STREAM_COUNT_]; /* more output arrived than the caller keeps */
	struct fh_feed feed;
	struct fh_exit exit;
	struct fh_evidence evidence;
	const void *key; /* key of all its waits; in a group, that of the first member */
};

void fh_execution_init(struct fh_execution *x, struct fh_client *client, const struct fh_plan *plan,
                       const struct fh_run_options *o);
/* Writes the fields of a RUN, or of one of its members. */
void fh_execution_write_run(struct fh_buf *frame, const struct fh_execution *x);
/* Runs until the last answers and all bytes of `count` executions have arrived. They share one key and one cancel
 * flag. */
int fh_execution_pump(struct fh_execution *x, size_t count, struct fh_error *err);
FH_OWN struct fh_result *fh_execution_assemble(struct fh_execution *x);
void fh_execution_release(struct fh_execution *x);
