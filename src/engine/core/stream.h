/* SPDX-License-Identifier: MIT */
/* The streams of processes and files: bytes between a pipe or a terminal and a client, with credit for each side. */
#pragma once
#include "engine/core/connection.h"

enum { FH_STDIN_WINDOW = 256 << 10 };

struct fh_process;
struct fh_sandbox;

/* Bytes from a pipe or terminal to a client. buffer holds what the client has not yet said that it consumed, from
 * offset `acked` on; so a second client that attaches gets everything from there. */
struct fh_output {
	struct fh_output *next; /* of its owner */
	struct fh_id id;
	enum fh_stream_kind kind;
	struct fh_sandbox *sandbox; /* NULL once that is gone */
	struct fh_process *process; /* NULL for a file */
	struct fh_connection *connection;
	struct fh_watch watch;
	int fd; /* -1: at its end */
	struct fh_buf buffer;
	uint64_t acked, sent, limit; /* offsets; limit: bytes that are kept, FH_UNLIMITED: all */
	size_t window;
	bool ended, truncated, end_sent;
	bool drop;                           /* while no connection reads, the oldest bytes make room */
	void (*on_end)(struct fh_output *s); /* all bytes and END are with the client */
};
struct fh_output *fh_output_new(struct fh_engine *e, enum fh_stream_kind kind, struct fh_connection *c, size_t window,
                                uint64_t limit);
void fh_output_open(struct fh_engine *e, struct fh_output *s, int fd); /* takes fd; starts to read */
void fh_output_credit(struct fh_engine *e, struct fh_output *s, uint64_t offset);
void fh_output_attach(struct fh_engine *e, struct fh_output *s, struct fh_connection *c);
void fh_output_detach(struct fh_engine *e, struct fh_output *s); /* its connection is gone */
void fh_output_end(struct fh_engine *e, struct fh_output *s);    /* nothing more is read */
void fh_output_finish(struct fh_engine *e, struct fh_output *s); /* what is there now is sent, then END */
void fh_output_free(struct fh_engine *e, struct fh_output *s);

/* Bytes from a client to a pipe or terminal. */
struct fh_input {
	struct fh_id id;
	struct fh_process *process;
	struct fh_watch watch;
	int fd; /* -1: closed, or not there yet */
	bool terminal, broken, end_seen;
	struct fh_buf buffer;
	size_t taken;               /* of buffer: written, and not yet dropped */
	uint64_t received, written; /* offsets */
};
void fh_input_open(struct fh_engine *e, struct fh_input *in, int fd); /* takes fd */
/* Bytes of the client's at that offset; false: beyond the window or out of order. */
bool fh_input_data(struct fh_engine *e, struct fh_input *in, uint64_t offset, struct fh_str bytes, bool end);
/* Tells the client that nothing reads its stream any more. */
void fh_input_gone(struct fh_input *in);
void fh_input_close(struct fh_engine *e, struct fh_input *in);
