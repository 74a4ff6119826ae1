/* SPDX-License-Identifier: MIT */
/* A client of the engine: frames in, frames out. What a frame asks for is its handler's (engine.h). */
#pragma once
#include "engine/core/loop.h"
#include "proto/frame.h"

enum { FH_CONNECTION_OUT_MAX = 96 << 20 }; /* unsent bytes before a peer that does not read is dropped */

struct fh_engine;

struct fh_connection {
	struct fh_connection *next;
	struct fh_engine *engine;
	struct fh_watch in, out; /* one descriptor for both when it is a socket: then `out` is not used */
	int in_fd, out_fd;
	struct fh_frame_decoder decoder;
	struct fh_buf pending; /* to be written */
	size_t written;        /* of pending */
	pid_t peer_pid;
	uid_t peer_uid; /* the kernel's word; over a pipe: ours */
	bool lost;      /* the peer takes nothing more: what is written from here on is dropped, and loss_timer closes it */
	struct fh_timer loss_timer;
	bool closing;
};

struct fh_connection *fh_connection_new(struct fh_engine *e, int in_fd, int out_fd, pid_t peer);
/* Where frames for the peer are appended; follow it by fh_connection_flush. That never closes the connection itself,
 * though the peer may be gone: its caller is at work on what a close would end. The loop closes it right after. */
struct fh_buf *fh_connection_out(struct fh_connection *c);
void fh_connection_flush(struct fh_connection *c);
void fh_connection_error(struct fh_connection *c, uint64_t request, const struct fh_error *err);
void fh_connection_close(struct fh_connection *c);
