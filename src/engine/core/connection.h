/* SPDX-License-Identifier: MIT */
/* A client of the engine: frames in, frames out. struct fh_handler (engine.h) carries out what a frame asks for. */
#pragma once
#include "engine/core/loop.h"
#include "proto/frame.h"

enum { FH_CONNECTION_OUT_MAX = 96 << 20 }; /* unsent bytes before a peer that does not read is dropped */

struct fh_engine;

struct fh_connection {
	struct fh_connection *next;
	struct fh_engine *engine;
	/* watch the two descriptors; a socket is one descriptor for both, and `out` is then unused */
	struct fh_watch in, out;
	int in_fd, out_fd;
	struct fh_frame_decoder decoder;
	struct fh_buf pending; /* bytes to be written */
	size_t written;        /* bytes of pending that were written already */
	pid_t peer_pid;
	uid_t peer_uid; /* the peer's uid as the kernel reports it; over a pipe, our own uid */
	bool lost;      /* writing to the peer failed: further output is dropped, and loss_timer closes the connection */
	struct fh_timer loss_timer;
	struct fh_timer soon_timer; /* set while frames wait for fh_connection_flush_soon */
	bool closing;
};

struct fh_connection *fh_connection_new(struct fh_engine *e, int in_fd, int out_fd, pid_t peer);
/* The buffer to which frames for the peer are appended; call fh_connection_flush after. Flushing never closes the
 * connection, even when the peer is gone, because the caller may be using what a close would free: the loop closes it
 * right after. */
struct fh_buf *fh_connection_out(struct fh_connection *c);
void fh_connection_flush(struct fh_connection *c);
/* For frames that are of little use without one that will follow in a moment: they go with the next flush, or after
 * half a millisecond, so that the peer wakes up once. */
void fh_connection_flush_soon(struct fh_connection *c);
void fh_connection_error(struct fh_connection *c, uint64_t request, const struct fh_error *err);
void fh_connection_close(struct fh_connection *c);
