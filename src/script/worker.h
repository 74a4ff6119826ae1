/* SPDX-License-Identifier: MIT */
/*
 * One worker process and its channel. Messages are JSON objects, each after its length in four bytes, most
 * significant first, over a socket that is the worker's descriptor 0. A worker greets with {"ready": true} and
 * then answers one call at a time; it ends when the channel closes.
 */
#pragma once
#include "base/error.h"
#include "base/proc.h"
#include "json/json.h"

#define FH_WORKER_MESSAGE_MAX ((size_t)256 << 20)
/* Of what one call prints, so much is shown on our stderr; a call that prints yet more ends its worker. */
#define FH_WORKER_SHOWN_MAX ((size_t)1 << 20)
#define FH_WORKER_PRINT_MAX ((size_t)64 << 20)

struct fh_worker {
	struct fh_proc proc;
	int channel;    /* -1: not started */
	int print;      /* what it prints (stdout and stderr) comes in here; -1: it closed them */
	size_t printed; /* bytes, during this call */
};
#define FH_WORKER_INIT                                                                                                 \
	{                                                                                                                  \
		.channel = -1, .print = -1, .proc = {.stdio = { -1, -1, -1 } }                                                 \
	}

/* Starts argv and waits for its greeting. It dies with the thread that calls this. */
int fh_worker_start(struct fh_worker *w, const char *const *argv, const char *const *env,
                    FH_NULLABLE const volatile int *cancel, struct fh_error *err);
/* Whether it waits for a call, as it should between two. */
bool fh_worker_is_alive(const struct fh_worker *w);
/* Sends one message and waits for the one that answers it (new reference). FH_E_TIMEOUT, FH_E_CANCELLED; FH_E_PROTOCOL
 * when the worker ended or answered nonsense, with how it ended in the message; FH_E_LIMIT when either message is too
 * large. After any of them but FH_E_LIMIT for the sent one (*ret_usable stays true) the worker is to be ended. */
int fh_worker_ask(struct fh_worker *w, const json_t *message, uint64_t timeout_ms,
                  FH_NULLABLE const volatile int *cancel, json_t **ret, bool *ret_usable, struct fh_error *err);
void fh_worker_end(struct fh_worker *w); /* kills it with all its children */
