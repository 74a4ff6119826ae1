/* SPDX-License-Identifier: MIT */
/*
 * The inside of a connection, shared by connection.c (bytes and waits), dispatch.c (frames and calls) and flow.c.
 * Everything here is guarded by `mutex`, but for `in`, `out` and `event`, which never change.
 */
#pragma once
#include "sandbox/connection/connection.h"

enum { FH_MUX_BUCKETS = 64, FH_MUX_QUEUE_FULL = 4 << 20 };

struct fh_connection {
	int in, out; /* equal for a socket */
	int event;   /* an eventfd: gets the leader out of poll */
	bool out_is_socket;
	pthread_mutex_t mutex;

	struct fh_wait *waits; /* all that were begun and not ended */
	FH_NULLABLE struct fh_wait *leader;
	bool polling; /* the leader is in poll, without the lock */

	struct fh_frame_decoder decoder;
	bool hello;                    /* the peer's was seen */
	int64_t greet_ms, greet_by_ns; /* how long it may take; when it has to be seen */
	uint64_t peer_version;
	pid_t peer_pid;

	struct fh_buf queue; /* whole frames that the kernel has not taken yet, from `queue_used` on */
	size_t queue_used;
	uint64_t queued, flushed; /* bytes ever; equal when the queue is empty */

	uint64_t last_request;
	struct fh_call *calls[FH_MUX_BUCKETS];
	struct fh_flow *streams[FH_MUX_BUCKETS];

	struct fh_error broken; /* code FH_OK while all is well */
	void (*explain)(void *context, struct fh_error *err);
	void *explain_context;
};

/* The connection is of no more use: every wait gets the error. The first one stays. */
void fh_connection_break(struct fh_connection *c, const struct fh_error *err);

/* Hands what the decoder holds to calls and streams; negative: the peer broke the protocol. */
int fh_connection_dispatch(struct fh_connection *c, struct fh_error *err);

FH_NULLABLE struct fh_flow *fh_flow_find(struct fh_connection *c, struct fh_id id);
int fh_flow_on_data(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_flow_on_credit(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* Writes what it can and queues the rest. Returns the mark that `flushed` reaches when the last byte has left. */
uint64_t fh_connection_enqueue(struct fh_connection *c, struct fh_str frames);
/* Waits for it. */
int fh_wait_flushed(struct fh_wait *w, uint64_t mark, struct fh_error *err);
