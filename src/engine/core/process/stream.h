/* SPDX-License-Identifier: MIT */
/* Streams of processes and files: bytes between a pipe or a terminal and a client, with flow control by credit. */
#pragma once
#include "engine/core/connection.h"

enum { FH_STDIN_WINDOW = 256 << 10 };

struct fh_process;
struct fh_sandbox;
struct winsize;

/* Bytes from a pipe or terminal to a client. `buffer` starts at offset `acked` and keeps what the client has not yet
 * acknowledged, so that a second client that attaches gets all of that. */
struct fh_output {
	struct fh_output *next; /* next stream of the same owner */
	struct fh_id id;
	enum fh_stream_kind kind;
	struct fh_sandbox *sandbox; /* NULL once the sandbox is gone */
	struct fh_process *process; /* NULL: the stream carries a file */
	struct fh_connection *connection;
	struct fh_watch watch;
	struct fh_timer rest; /* set while nothing is read because the last turn was costly */
	int fd;               /* -1: end of file was reached, or not open yet */
	struct fh_buf buffer;
	size_t gone;                 /* bytes at the start of the buffer that are acknowledged and not yet dropped */
	uint64_t acked, sent, limit; /* offsets in the stream; limit: how many bytes are kept, FH_UNLIMITED: all */
	size_t window;
	bool ended, truncated, end_sent, grown; /* grown: the pipe was made larger, once */
	bool drop;                              /* while no client is attached, discards the oldest bytes to make room */
	void (*on_end)(struct fh_output *s); /* called when the client has acknowledged all bytes and END was sent to it */
};
/* Bytes that the client has not acknowledged. */
static inline size_t fh_output_held(const struct fh_output *s)
{
	return s->buffer.n - s->gone;
}
struct fh_output *fh_output_new(struct fh_engine *e, enum fh_stream_kind kind, struct fh_connection *c, size_t window,
                                uint64_t limit);
void fh_output_open(struct fh_engine *e, struct fh_output *s, int fd); /* takes ownership of fd and starts to read */
void fh_output_credit(struct fh_engine *e, struct fh_output *s, uint64_t offset);
void fh_output_attach(struct fh_engine *e, struct fh_output *s, struct fh_connection *c);
void fh_output_detach(struct fh_engine *e, struct fh_output *s); /* the stream's connection is closed */
void fh_output_end(struct fh_engine *e, struct fh_output *s);    /* stops reading; sends END after what is buffered */
void fh_output_catch_up(struct fh_output *s);                    /* reads what the window allows of what is there */
void fh_output_finish(struct fh_engine *e, struct fh_output *s); /* reads what is there now, then ends the stream */
void fh_output_free(struct fh_engine *e, struct fh_output *s);
/* Gives a terminal that size. Returns 0, or -1 with errno. */
int fh_output_resize(struct fh_output *s, const struct winsize *size);
/* Closes a pipe or terminal that programs of the sandbox may hold locked. */
void fh_watched_close(struct fh_sandbox *b, int fd);

/* Bytes from a client to a pipe or terminal. */
struct fh_input {
	struct fh_id id;
	struct fh_process *process;
	struct fh_watch watch;
	struct fh_timer rest; /* set while nothing is written because the last turn was costly */
	int fd;               /* -1: closed, or not open yet */
	bool terminal, broken, end_seen;
	struct fh_buf buffer;
	size_t taken;               /* bytes at the start of the buffer that were written but not yet dropped */
	uint64_t received, written; /* offsets */
};
void fh_input_open(struct fh_engine *e, struct fh_input *in, int fd); /* takes ownership of fd */
/* Adds bytes that the client sent for that offset. False: they exceed the window or are out of order. */
bool fh_input_data(struct fh_engine *e, struct fh_input *in, uint64_t offset, struct fh_str bytes, bool end);
/* Tells the client that no process reads the stream any more. */
void fh_input_gone(struct fh_input *in);
void fh_input_close(struct fh_engine *e, struct fh_input *in);
/* Gives away the pipe, to a process that writes to it itself: what the client sends from then on is discarded. Returns
 * the descriptor, blocking; -1: it is closed, or something that the client sent waits to be written. */
int fh_input_take(struct fh_engine *e, struct fh_input *in);
