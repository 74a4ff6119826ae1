/* SPDX-License-Identifier: MIT */
/*
 * The internals of a connection, shared by connection.c (bytes and waits), dispatch.c (frames and calls) and flow.c.
 * `mutex` guards all fields but `in`, `out` and `event`, which never change.
 */
#pragma once
#include "sandbox/connection/connection.h"

enum { FH_MUX_BUCKETS = 64, FH_MUX_QUEUE_FULL = 4 << 20, FH_MUX_CAPABILITIES = 16 };

struct fh_connection {
	int in, out; /* equal for a socket */
	int event;   /* an eventfd that makes the leader return from poll */
	bool out_is_socket;
	pthread_mutex_t mutex;

	struct fh_wait *waits; /* all that have begun and not ended */
	FH_NULLABLE struct fh_wait *leader;
	bool polling; /* the leader is in poll and does not hold the lock */

	struct fh_frame_decoder decoder;
	bool hello;                    /* the peer's greeting arrived */
	int64_t greet_ms, greet_by_ns; /* greet_ms: time for the greeting; greet_by_ns: its deadline */
	uint64_t peer_version;
	pid_t peer_pid;
	char *capabilities[FH_MUX_CAPABILITIES]; /* of the peer */
	size_t capability_count;

	struct fh_buf queue; /* whole frames, of which the kernel has not accepted those from `queue_used` on */
	size_t queue_used;
	uint64_t queued, flushed; /* total bytes; equal when the queue is empty */

	uint64_t last_request;
	struct fh_call *calls[FH_MUX_BUCKETS];
	struct fh_flow *streams[FH_MUX_BUCKETS];

	struct fh_error broken; /* code FH_OK unless the connection is broken */
	void (*explain)(void *context, struct fh_error *err);
	void *explain_context;
};

/* Hands the frames in the decoder to calls and streams. Negative: the peer broke the protocol. */
int fh_connection_dispatch(struct fh_connection *c, struct fh_error *err);

int fh_flow_on_data(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);
int fh_flow_on_credit(struct fh_connection *c, const struct fh_frame *f, struct fh_error *err);

/* Writes what the kernel accepts and queues the rest. Returns the value that `flushed` reaches when the last byte is
 * written. */
uint64_t fh_connection_enqueue(struct fh_connection *c, struct fh_str frames);
/* Waits until `flushed` reaches `mark`. */
int fh_wait_flushed(struct fh_wait *w, uint64_t mark, struct fh_error *err);
