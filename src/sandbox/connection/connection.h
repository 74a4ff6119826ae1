/* SPDX-License-Identifier: MIT */
/*
 * One byte stream to an engine, shared by any number of threads.
 *
 * There is no reader thread. A thread that needs something from the engine opens a *wait*, and one of all waits
 * *leads*: it alone polls the descriptors, reads frames, hands each to the call or stream to which it belongs, and
 * wakes the threads that wait for that. When the leader has what it wanted, another wait becomes the leader. Writing
 * cannot deadlock with a peer that stops reading until we read: what does not fit into the kernel's buffer is queued,
 * and a thread that waits for the queue to empty may lead and so reads too.
 *
 *     struct fh_wait w;
 *     fh_wait_begin(&w, connection, key);          takes the lock
 *     while (!what_I_want && r == 0)
 *         r = fh_wait_step(&w, deadline, err);     releases it while it sleeps
 *     fh_wait_end(&w);                             passes the lead on, releases the lock
 *
 * Everything that a peer sends is bounded: a stream buffers at most its window, a call accepts only the answers that it
 * expects, and frames have a maximum size. A violation of the protocol breaks the connection: every present and future
 * wait gets the same error. Callbacks of the library's user must not be called between begin and end.
 */
#pragma once
#include <pthread.h>
#include "proto/frame.h"

struct fh_connection;
struct fh_call;

/* --------------------------------------------------------------------------------------------------------- streams */

/* One direction of bytes of a protocol stream. The connection's lock guards the fields. */
struct fh_flow {
	struct fh_id id;
	enum fh_stream_kind kind;
	const void *key;    /* key of the waits that are woken when something arrives */
	struct fh_buf data; /* incoming: received, and not yet taken; at most `window` bytes */
	uint64_t position;  /* total bytes received (incoming) or sent (outgoing) */
	uint64_t credited;  /* total bytes acknowledged: by us to the peer (incoming), or by the peer to us (outgoing) */
	uint64_t window;    /* maximum number of bytes that are sent and not yet acknowledged (position - credited) */
	uint64_t ceiling;   /* incoming: how far `position` may get; UINT64_MAX: any distance */
	bool ended;         /* END was received, or sent; on an outgoing stream also: the peer accepts no more */
	bool truncated;
	bool taken_over; /* another handle, or another client, continues this stream */
	bool open;       /* registered with the connection */
	struct fh_flow *next;
};

/* Registers the stream, so that frames with its id reach it. It replaces an older one with the same id. Lock held. */
void fh_flow_open(struct fh_connection *c, struct fh_flow *s);
/* Unregisters the stream and frees its buffers, not s itself. Takes the lock. May be called on closed or never opened
 * streams. */
void fh_flow_close(struct fh_connection *c, struct fh_flow *s);
/* Takes up to n received bytes. Lock held. */
size_t fh_flow_take(struct fh_flow *s, void *to, size_t n);
/* Moves all received bytes to *to, which must be empty. Lock held. */
void fh_flow_take_all(struct fh_flow *s, struct fh_buf *to);
/* Acknowledges the bytes taken, if at least `threshold` are unacknowledged. The lock must not be held. */
int fh_flow_credit(struct fh_connection *c, struct fh_flow *s, size_t threshold, struct fh_error *err);
/* Sends all n bytes, waiting for credit. Fails with FH_E_NOT_FOUND and sys EPIPE when the other side accepts no more,
 * and with FH_E_CANCELLED once *stop is set and the stream's key woken. stop may be NULL. */
int fh_flow_write(struct fh_connection *c, struct fh_flow *s, const void *p, size_t n, const bool *stop,
                  struct fh_error *err);
/* Sends END; does nothing if it was sent already. */
int fh_flow_end(struct fh_connection *c, struct fh_flow *s, struct fh_error *err);

/* Reads a message { F_KIND, F_ID, F_WINDOW, F_OFFSET } that announces a stream, or a bare id. `fallback` is the window
 * if the message names none. False: malformed, or a window over FH_WINDOW_MAX. */
bool fh_flow_parse(struct fh_str message, uint64_t fallback, struct fh_flow *ret);

/* ----------------------------------------------------------------------------------------------------------- calls */

/* A request that was sent, and its expected answers. A member of the struct that collects them. */
struct fh_call {
	/* Called for each answering frame except ERROR, by the leading thread, with the lock held. Returns 1 for the last
	 * answer, 0 if more follow, negative if the peer broke the protocol. */
	int (*on_answer)(struct fh_call *call, const struct fh_frame *f, struct fh_error *err);
	const void *key; /* key of the waits to wake; NULL: the call itself */
	uint64_t request;
	bool done;
	struct fh_error error; /* from an ERROR frame; otherwise its code is FH_OK */
	struct fh_connection *connection;
	struct fh_call *next;
};

/* Gives the call its number and registers it, so that answers reach it. */
void fh_call_begin(struct fh_connection *c, struct fh_call *call);
/* The same for several calls that a single frame makes: their numbers are consecutive. */
void fh_calls_begin(struct fh_connection *c, struct fh_call *const *calls, size_t count);
/* Unregisters the call: later answers are ignored. */
void fh_call_end(struct fh_call *call);

/* A call with a single answer. */
struct fh_answer {
	struct fh_call call;
	uint16_t type; /* type of the answering frame: REPLY, EXIT */
	struct fh_id id;
	struct fh_buf payload; /* must always be freed by fh_buf_release */
};
/* Begins the call. Then build the request's frame with a->call.request, and wait. `a` must not move until then. */
void fh_answer_begin(struct fh_connection *c, struct fh_answer *a, uint16_t type);
/* Sends the frame, waits for the answer and ends the call. An ERROR is returned in err. */
int fh_answer_wait(struct fh_answer *a, const struct fh_buf *frame, struct fh_error *err);

/* ------------------------------------------------------------------------------------------------------ connection */

/* Takes ownership of both descriptors, which may be the same, and makes them non-blocking. */
FH_OWN struct fh_connection *fh_connection_new(int in, int out);
void fh_connection_free(struct fh_connection *c); /* no thread may be using it */
/* Exchanges greetings; the peer's must arrive within timeout_ms. With `later` this does not wait for it: the first
 * thread that needs the peer does, and if the greeting does not arrive in time the connection is broken. */
int fh_connection_greet(struct fh_connection *c, int64_t timeout_ms, bool later, struct fh_error *err);
bool fh_connection_greeted(struct fh_connection *c);
/* Waits for the peer's greeting, if it has not come yet. */
int fh_connection_await_greeting(struct fh_connection *c, struct fh_error *err);
/* Whether the peer's greeting names this capability (proto/frame.h). */
bool fh_connection_peer_can(const struct fh_connection *c, const char *capability);
pid_t fh_connection_peer_pid(const struct fh_connection *c);
bool fh_connection_lost(struct fh_connection *c);            /* it is broken; the peer may be gone without that */
int fh_connection_descriptor(const struct fh_connection *c); /* the descriptor from which the connection reads */
/* Sets a function that is called once, with the lock held, when the peer is gone, to add a reason to "the engine closed
 * the connection". */
void fh_connection_on_lost(struct fh_connection *c, void (*explain)(void *context, struct fh_error *err),
                           void *context);

/* Sends whole frames; returns when the kernel has accepted them. */
int fh_connection_send(struct fh_connection *c, const struct fh_buf *frames, struct fh_error *err);

struct fh_wait {
	struct fh_connection *c;
	const void *key;
	pthread_cond_t wake;
	struct fh_wait *next;
};
void fh_wait_begin(struct fh_wait *w, struct fh_connection *c, const void *key);
/* Sleeps until something with the wait's key may have changed. May wake spuriously, and returns 0 early if a signal
 * arrives while this wait leads. After deadline_ns (monotonic; 0: none) returns -FH_E_TIMEOUT. */
int fh_wait_step(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err);
void fh_wait_end(struct fh_wait *w);
/* Wakes the waits with that key. Lock held; without the lock use fh_connection_poke. */
void fh_connection_wake(struct fh_connection *c, const void *key);
/* Takes the lock, sets *flag and wakes the key. */
void fh_connection_poke(struct fh_connection *c, const void *key, bool *flag);
