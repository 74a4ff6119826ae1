/* SPDX-License-Identifier: MIT */
/*
 * One byte stream to an engine, shared by any number of threads.
 *
 * There is no reader thread. A thread that needs something from the engine opens a *wait*; of all waits one *leads*: it
 * alone polls the descriptors, takes frames in and hands each to the call or stream that it belongs to, and wakes
 * whoever waits for that. When the leader has what it wanted it hands over to another wait. Writing never blocks for
 * ever: what does not fit into the kernel's buffer is queued, and whoever waits for it to leave leads meanwhile, so
 * that it reads too; a peer that stops reading until we have read cannot lock us.
 *
 *     struct fh_wait w;
 *     fh_wait_begin(&w, connection, key);          takes the lock
 *     while (!what_I_want && r == 0)
 *         r = fh_wait_step(&w, deadline, err);     lets go of it while it sleeps
 *     fh_wait_end(&w);                             hands over, gives the lock back
 *
 * Everything that a peer sends is bounded: a stream holds at most its window, a call takes only the answers that it
 * expects, a frame has a maximum. Whatever breaks the protocol breaks the connection: every wait, now and later, gets
 * the same error. Nothing that belongs to the user (a callback) may run between begin and end.
 */
#pragma once
#include <pthread.h>
#include "proto/frame.h"

struct fh_connection;
struct fh_call;

/* --------------------------------------------------------------------------------------------------------- streams */

/* One direction of bytes: a stream of the protocol, as this end sees it. The fields are guarded by the connection's
 * lock. */
struct fh_flow {
	struct fh_id id;
	enum fh_stream_kind kind;
	const void *key;    /* whom to wake: waits with an equal key */
	struct fh_buf data; /* incoming: came, and not yet taken; at most window bytes */
	uint64_t position;  /* incoming: bytes that came; outgoing: bytes that were sent. Both count from the start */
	uint64_t credited;  /* incoming: what we have told the peer to forget; outgoing: what it has told us */
	uint64_t window;    /* position - credited never exceeds it */
	uint64_t ceiling;   /* incoming: position must not exceed it; UINT64_MAX: none */
	bool ended;         /* the peer's END was seen (outgoing: it takes no more), or ours was sent */
	bool truncated;
	bool taken_over; /* a later call continues this stream under another handle */
	bool open;       /* the connection knows it */
	struct fh_flow *next;
};

/* Lets frames with the stream's id reach it. An older stream of the same id is taken over. Lock held. */
void fh_flow_open(struct fh_connection *c, struct fh_flow *s);
/* Forgets it and frees what it holds (not s itself). Takes the lock. Closed or never opened streams are fine. */
void fh_flow_close(struct fh_connection *c, struct fh_flow *s);
/* Takes up to n bytes out of what came. Lock held. */
size_t fh_flow_take(struct fh_flow *s, void *to, size_t n);
/* Swaps all that came into *to, which must be empty. Lock held. */
void fh_flow_take_all(struct fh_flow *s, struct fh_buf *to);
/* Tells the peer what was taken, when that is at least `threshold` bytes more than it knows. Not under the lock. */
int fh_flow_credit(struct fh_connection *c, struct fh_flow *s, size_t threshold, struct fh_error *err);
/* Sends all n bytes, waiting for credit. FH_E_NOT_FOUND with sys EPIPE when the other side takes no more;
 * FH_E_CANCELLED once *stop is set (and the stream's key woken). stop may be NULL. */
int fh_flow_write(struct fh_connection *c, struct fh_flow *s, const void *p, size_t n, const bool *stop,
                  struct fh_error *err);
/* Sends the end. Once is enough; more is fine. */
int fh_flow_end(struct fh_connection *c, struct fh_flow *s, struct fh_error *err);

/* Reads a message { F_KIND, F_ID, F_WINDOW, F_OFFSET } that announces a stream, or a bare id. False: malformed, or a
 * window over FH_WINDOW_MAX. `fallback` is the window when none is said. */
bool fh_flow_parse(struct fh_str message, uint64_t fallback, struct fh_flow *ret);

/* ----------------------------------------------------------------------------------------------------------- calls */

/* A request that was sent and the answers that it awaits. Embedded in what collects them. */
struct fh_call {
	/* Called for each frame that answers (ERROR excepted), by whichever thread leads, with the lock held: 1 when it was
	 * the last, 0 when more follow, negative when the peer broke the protocol. */
	int (*on_answer)(struct fh_call *call, const struct fh_frame *f, struct fh_error *err);
	const void *key; /* whom to wake; NULL: the call itself */
	uint64_t request;
	bool done;
	struct fh_error error; /* what ERROR said; code FH_OK otherwise */
	struct fh_connection *connection;
	struct fh_call *next;
};

/* Gives the call its number and lets answers reach it. */
void fh_call_begin(struct fh_connection *c, struct fh_call *call);
/* The same for several calls that one frame makes: their numbers follow on each other. */
void fh_calls_begin(struct fh_connection *c, struct fh_call *const *calls, size_t count);
/* Forgets it: later answers are skipped. */
void fh_call_end(struct fh_call *call);

/* One request, one answer. */
struct fh_answer {
	struct fh_call call;
	uint16_t type; /* of the frame that answers: REPLY, EXIT */
	struct fh_id id;
	struct fh_buf payload; /* fh_buf_release it, always */
};
/* Begins the call: build the request's frame with a->call.request, then wait. a stays where it is until then. */
void fh_answer_begin(struct fh_connection *c, struct fh_answer *a, uint16_t type);
/* Sends the frame, waits, ends the call. An ERROR becomes err. */
int fh_answer_wait(struct fh_answer *a, const struct fh_buf *frame, struct fh_error *err);

/* ------------------------------------------------------------------------------------------------------ connection */

/* Takes both descriptors over (they may be the same one) and makes them non-blocking. */
FH_OWN struct fh_connection *fh_connection_new(int in, int out);
void fh_connection_free(struct fh_connection *c); /* nobody may be using it */
/* Exchanges greetings. The peer's must come within timeout_ms; with `later` that is not waited for here: whoever needs
 * the peer first waits until then, and a connection that has not been greeted by then is broken. */
int fh_connection_greet(struct fh_connection *c, int64_t timeout_ms, bool later, struct fh_error *err);
bool fh_connection_greeted(struct fh_connection *c);
uint64_t fh_connection_peer_version(const struct fh_connection *c);
pid_t fh_connection_peer_pid(const struct fh_connection *c);
int fh_connection_descriptor(const struct fh_connection *c); /* where it reads */
/* Called once, with the lock held, when the peer has gone, to say more than "the engine closed the connection". */
void fh_connection_on_lost(struct fh_connection *c, void (*explain)(void *context, struct fh_error *err),
                           void *context);

/* Sends whole frames; returns when the kernel has them. */
int fh_connection_send(struct fh_connection *c, const struct fh_buf *frames, struct fh_error *err);

struct fh_wait {
	struct fh_connection *c;
	const void *key;
	pthread_cond_t wake;
	struct fh_wait *next;
};
void fh_wait_begin(struct fh_wait *w, struct fh_connection *c, const void *key);
/* Sleeps until something of the key may have changed, or spuriously; at most to the deadline (monotonic ns; 0: none),
 * then -FH_E_TIMEOUT. Also returns 0 early when a signal comes while this wait leads. */
int fh_wait_step(struct fh_wait *w, int64_t deadline_ns, struct fh_error *err);
void fh_wait_end(struct fh_wait *w);
/* Wakes the waits with that key. Lock held; from outside use fh_connection_poke. */
void fh_connection_wake(struct fh_connection *c, const void *key);
/* Sets *flag under the lock and wakes the key. */
void fh_connection_poke(struct fh_connection *c, const void *key, bool *flag);
