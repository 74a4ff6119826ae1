/* SPDX-License-Identifier: MIT */
/*
 * Processes of a hosted sandbox, and their followers, the clients that read a process's events.
 *
 *     fh_process ──two pumps──▶ frames ──▶ a queue for each follower ──▶ the body of its stream
 *
 * A process without followers continues: its output is read and dropped, as envd does. A follower that does not read
 * blocks the process once its queue is full, until it reads on or disconnects. The record of a process that has ended
 * is kept for 30 s, so that a later follower learns how it ended.
 *
 * A process is reference-counted: its list, its pumps and its followers each hold a reference. `lock` guards the
 * members below it.
 */
#pragma once
#include "e2b/common/connect.h"
#include "e2b/hosted/e2b.h"

enum { FH_PROCESS_TAG_MAX = 64 };

struct fh_follower;

struct fh_hosted_process {
	struct fh_hosted *hosted; /* sandbox of the process, with a reference */
	struct fh_process *process;
	uint32_t pid;
	bool pty;
	char tag[FH_PROCESS_TAG_MAX]; /* tag for finding the process; "": no tag */
	json_t *config;               /* cmd, args, envs, cwd of the request; immutable */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled for new frames, for room in a queue, at the end */
	struct fh_follower *followers;
	unsigned pumps; /* number of running pumps */
	bool ended;
	int64_t ended_ns;
	struct fh_exit exit;

	atomic_int references;
	struct fh_hosted_process *next; /* next process of the sandbox; guarded by the sandbox's lock */
};

/* The arguments of envd's Start. Borrowed. */
struct fh_process_request {
	json_t *config;
	const char *user; /* user that runs the process: "user" or "root" */
	const char *tag;
	bool stdin_open, pty;
	uint16_t rows, columns;
	uint64_t timeout_ms; /* time limit of the process; 0: no limit */
};
int fh_hosted_process_start(struct fh_hosted *h, const struct fh_process_request *q, struct fh_hosted_process **ret,
                            struct fh_connect_error *e);
/* Starts reading the process's output; to be called once, after the first follower was added, so that it misses
 * nothing. */
void fh_hosted_process_pump(struct fh_hosted_process *p);
/* Finds a process by {"pid": n} or {"tag": "…"}. NULL with *e set. */
FH_NULLABLE struct fh_hosted_process *fh_hosted_process_find(struct fh_hosted *h, const json_t *selector,
                                                             struct fh_connect_error *e);
/* [{"config", "pid", "tag"}] of the running processes. */
FH_OWN json_t *fh_hosted_process_list(struct fh_hosted *h);
void fh_hosted_process_drop(struct fh_hosted_process *p);
/* Empties the list of a sandbox that has ended. */
void fh_hosted_forget_processes(struct fh_hosted *h);

/* Waits for the end of the process, at most timeout_ms. A killed process is reaped by then, so that its pid is free.
 * While nobody reads its output, the end of the process is not known, and the time passes. */
void fh_hosted_process_await_end(struct fh_hosted_process *p, int64_t timeout_ms);

/* Replies with the stream of the process's events, of which the first gives the pid. It ends after timeout_ms, and the
 * process goes on; 0: it lasts as long as the process. Takes over the reference to p. */
void fh_hosted_process_follow(struct fh_http_request *r, uint64_t timeout_ms, FH_OWN struct fh_hosted_process *p);
