/* SPDX-License-Identifier: MIT */
/*
 * A worker process and its channel. Messages are JSON objects, each preceded by its length in four bytes, most
 * significant first, over a socket that is the worker's descriptor 0. A worker greets with {"ready": true} and then
 * answers one call at a time; it ends when the channel is closed.
 */
#pragma once
#include "base/error.h"
#include "base/process/proc.h"
#include "json/json.h"

#define FH_WORKER_MESSAGE_MAX ((size_t)256 << 20)
/* Maximum bytes of output of one call: what is shown of it on our stderr, and what it may print before its worker is
 * ended. */
#define FH_WORKER_SHOWN_MAX ((size_t)1 << 20)
#define FH_WORKER_PRINT_MAX ((size_t)64 << 20)

struct fh_worker {
	struct fh_proc proc;
	int channel;    /* socket to the worker; -1: not started */
	int print;      /* pipe with its stdout and stderr; -1: the worker closed them */
	size_t printed; /* bytes that the current call has printed */
};
#define FH_WORKER_INIT                                                                                                 \
	{                                                                                                                  \
		.channel = -1, .print = -1, .proc = {.stdio = { -1, -1, -1 } }                                                 \
	}

/* Starts argv and waits for the greeting. The worker dies with the calling thread. */
int fh_worker_start(struct fh_worker *w, const char *const *argv, const char *const *env,
                    FH_NULLABLE const volatile int *cancel, struct fh_error *err);
/* Whether the worker is still waiting for a call; for use between two calls. */
bool fh_worker_is_alive(const struct fh_worker *w);
/* Sends one message and waits for the answer (new reference). FH_E_TIMEOUT, FH_E_CANCELLED; FH_E_PROTOCOL when the
 * worker ended (the message says how; retryable if not by itself) or its answer is invalid; FH_E_LIMIT when either
 * message is too large. After an error the caller has to end the worker, unless *ret_usable is true: the message was
 * too large to be sent. */
int fh_worker_ask(struct fh_worker *w, const json_t *message, uint64_t timeout_ms,
                  FH_NULLABLE const volatile int *cancel, json_t **ret, bool *ret_usable, struct fh_error *err);
void fh_worker_end(struct fh_worker *w); /* kills the worker and all its children */
