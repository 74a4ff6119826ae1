/* SPDX-License-Identifier: MIT */
/* An engine made of a script: a thread that reads frames and writes what the test wants, right or wrong. */
#pragma once
#include "proto/frame.h"
#include "proto/plan.h"
#include "sandbox/connection/client.h"

struct fake {
	int fd;
	struct fh_frame_decoder in;
	struct fh_buf out;
	void (*script)(struct fake *f);
	void *context;
	pthread_t thread;
	int peer;         /* the client's end */
	uint64_t request; /* of the last frame that fake_expect saw */
	struct fh_id id;
	uint16_t flags;
};

/* Starts the script; a client may be opened on f->peer. */
void fake_thread(struct fake *f, void (*script)(struct fake *f), void *context);
/* The same, and opens a client on it; negative when the greeting fails. fake_end closes both. */
int fake_start(struct fake *f, void (*script)(struct fake *f), void *context, struct fh_client **ret,
               struct fh_error *err);
void fake_end(struct fake *f, struct fh_client *client);

/* For scripts. */
void fake_greet(struct fake *f); /* both ways */
void fake_flush(struct fake *f); /* writes out */
void fake_close(struct fake *f);
/* The next frame of that type; others are skipped. False: the client has gone. The payload stays valid until the next.
 */
bool fake_expect(struct fake *f, uint16_t type, struct fh_frame *ret);
struct fh_id fake_id(uint8_t n);
/* STARTED with the three streams 1 (stdin), 2, 3 of `base`, all with that window, and a field that nobody knows. */
void fake_started(struct fake *f, uint64_t request, uint8_t base, uint64_t window);
void fake_data(struct fake *f, struct fh_id stream, uint64_t offset, const void *p, size_t n, uint16_t flags);
void fake_result(struct fake *f, uint64_t request, uint64_t status, int64_t exit_code);
void fake_reply(struct fake *f, uint64_t request);
/* FILE: the stream that carries out number `index`. */
void fake_file(struct fake *f, uint64_t request, uint64_t index, struct fh_id stream);
void fake_error(struct fake *f, uint64_t request, enum fh_code code, const char *message);
/* A frame of a type that comes with a later version. */
void fake_unknown(struct fake *f, size_t n);

/* Before each test: a hang is a failure, with this test's name above it. */
int fake_setup(void **state);
/* A plan that needs no host. */
FH_OWN struct fh_plan *fake_plan(void);
