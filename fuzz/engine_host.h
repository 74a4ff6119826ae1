/* SPDX-License-Identifier: MIT */
/*
 * An engine in this process, without a kernel's help: fh_launch is replaced (by the linker, --wrap) with one that makes
 * no process. Its sandboxes have a socket where init would be, and the target speaks for init; they die when the engine
 * kills them. Ids are 1, 2, 3 … in their first byte, so that an input can name them.
 *
 * Everything else is the engine's own code: its loop, its requests, its state machine.
 */
#pragma once
#include "engine/core/connection.h"
#include "engine/core/sandbox.h"
#include "engine/serve/handler.h"

struct fh_fuzz_sandbox {
	int init;   /* our end of init's socket, -1: closed */
	int report; /* where the set-up reports, -1: it has */
	int alive;  /* an eventfd that stands for the pidfd; readable once it is dead */
};

enum { FH_FUZZ_SANDBOXES_MAX = 8 };

struct fh_fuzz_host {
	struct fh_engine engine;
	struct fh_connection *connection; /* NULL: the engine closed it */
	int client;                       /* our end */
	struct fh_frame_decoder answers;
	size_t answer_count;
	struct fh_fuzz_sandbox sandboxes[FH_FUZZ_SANDBOXES_MAX];
	size_t count;
};

struct fh_fuzz_host *fh_fuzz_host_new(void);
void fh_fuzz_host_free(struct fh_fuzz_host *h); /* and checks that nothing of the engine's is left */

/* Lets the engine do what there is to do, and reads its answers, which have to be frames. */
void fh_fuzz_host_step(struct fh_fuzz_host *h);

/* As a client: bytes to the engine. */
void fh_fuzz_host_send(struct fh_fuzz_host *h, const void *p, size_t n);
/* A RUN (or CREATE) of a small plan. */
void fh_fuzz_host_ask(struct fh_fuzz_host *h, uint16_t type, uint64_t request);

/* As set-up and init of the sandbox `i` (they count from 0 in the order in which they were asked for). */
void fh_fuzz_host_report(struct fh_fuzz_host *h, size_t i, const struct fh_setup_report *r);
void fh_fuzz_host_ready(struct fh_fuzz_host *h, size_t i);                           /* it is made */
void fh_fuzz_host_packet(struct fh_fuzz_host *h, size_t i, const void *p, size_t n); /* from init */
void fh_fuzz_host_answer(struct fh_fuzz_host *h, size_t i); /* init does what it was asked for, as it should */
void fh_fuzz_host_die(struct fh_fuzz_host *h, size_t i);
